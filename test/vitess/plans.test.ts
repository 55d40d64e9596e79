import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { useServices } from "../harness/services.ts";
import {
  expectLocksKept,
  expectPlansOfOneShard,
  type PlannedStatement,
  planStatements,
} from "./plans.ts";

const keyspace = (name: string): { tables: Record<string, unknown> } => {
  const path = `../../server/src/database/vitess/${name}/vschema.json`;
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
};
const TABLES = [
  ...Object.keys(keyspace("activity").tables),
  ...["rate_window", "service_credential", "installation", "notice"],
];

const services = useServices();
let statements: readonly PlannedStatement[];
beforeAll(async () => {
  statements = await planStatements(services);
});

describe("ADR 0048: each statement that the product sends to a vtgate", () => {
  it("goes to the shards of its accounts only, unless it reads all accounts", () =>
    expectPlansOfOneShard(statements));

  it("takes the same locks as on a MySQL", () => expectLocksKept(statements));

  it("is known here: the statements name every table", () => {
    const sent = statements.map(({ text }) => text).join("\n");
    const missing = TABLES.filter((table) => !new RegExp(`\\b${table}\\b`).test(sent));
    expect(missing).toEqual([]);
  });
});
