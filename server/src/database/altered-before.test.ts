import { expect, it } from "vitest";
import { wasAlteredBefore } from "./altered-before.ts";

const EXISTS = "Duplicate column name 'headers' (errno 1060) (sqlstate 42S21)";
const KILLED = "elapsed time: 30s, killing query ID 7";
const of = (shard: string, text: string) => `target: activity.${shard}.primary: vttablet: ${text}`;

it.each([
  ["Duplicate column name 'headers'", true],
  [of("-80", EXISTS), true],
  [`${of("-80", EXISTS)}\n${of("80-", EXISTS)}`, true],
  [`${of("-80", EXISTS)}\n${of("80-", KILLED)}`, false],
])("ADR 0048: an ALTER TABLE that failed with %j was made before: %s", (message, isDone) => {
  expect(wasAlteredBefore(Object.assign(new Error(message), { errno: 1060 }))).toBe(isDone);
});
