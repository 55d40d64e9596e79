import { describe, expect, it } from "vitest";
import { endpointConditions, keyConditions } from "./conditions.ts";
import { NoticeKind } from "./notice.ts";

const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;
const NOW = 500 * DAY;
const ON = { switchedOn: true, hasFailed: true, nextSecretFrom: undefined };

const hour = (ago: number, delivered: number, failed: number, failedRuns = 0) => ({
  ...{ beganAt: NOW - ago * HOUR, delivered, failed, failedRuns },
});
const conditionsOf = (...hours: ReturnType<typeof hour>[]) =>
  endpointConditions({ ...ON, hours }, NOW);
/** Returns an endpoint's level: "works" below 25 % of at least 20 attempts, `undefined` from 25 % to below 50 %. */
function levelOf(...hours: ReturnType<typeof hour>[]) {
  const found = conditionsOf(...hours).find(({ kind }) => kind === NoticeKind.EndpointFailing);
  return found === undefined ? "works" : found.level;
}

describe("an endpoint fails, ADR 0054", () => {
  it.each([
    [0, 4, "works"],
    [0, 5, undefined],
    [0, 9, undefined],
    [0, 10, 50],
    [0, 14, 70],
    [0, 18, 90],
    [0, 20, 100],
    [10, 10, 50],
    [75, 25, undefined],
    [1, 99, 90],
  ] as const)("%i delivered and %i failed attempts: %s", (delivered, failed, level) =>
    expect(levelOf(hour(0, delivered, failed))).toBe(level),
  );

  it("by the newest hours that hold 20 attempts", () => {
    expect(levelOf(hour(0, 0, 20), hour(1, 980, 0))).toBe(100);
    expect(levelOf(hour(1, 980, 0), hour(0, 0, 19))).toBe("works");
    expect(levelOf(hour(0, 0, 5), hour(3, 0, 5), hour(20, 0, 10))).toBe(100);
  });

  it("without a new notice while it is switched off, and keeps its notices while their hours count", () => {
    const hours = [hour(0, 0, 30, 3)];
    const off = { ...ON, switchedOn: false };
    const kinds = [NoticeKind.EndpointFailing, NoticeKind.RunFailed];
    expect(conditionsOf(...hours).map(({ kind }) => kind)).toEqual(kinds);
    const kept = kinds.map((kind) => expect.objectContaining({ kind, level: undefined }));
    expect(endpointConditions({ ...off, hours }, NOW)).toEqual(kept);
    expect(endpointConditions({ ...off, hours: [] }, NOW)).toEqual([]);
  });
});

it.each([
  [15, undefined],
  [14, 14],
  [3.01, 14],
  [3, 3],
  [0.5, 3],
  [0, 0],
  [-2.9, 0],
  [-3, undefined],
])("a key that ends in %d days: level %s", (days, level) =>
  expect(keyConditions(NOW + days * DAY, NOW)[0]?.level).toBe(level),
);
