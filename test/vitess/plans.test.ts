import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { useServices } from "../harness/services.ts";
import {
  expectLocksKept,
  expectPlansOfOneShard,
  type PlannedStatement,
  planStatements,
} from "./plans.ts";
import { statementsSentIn } from "./sent-statements.ts";
import { tellStory } from "./story.ts";

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
  const sent = await statementsSentIn(() => tellStory(services));
  const { database } = services;
  statements = await planStatements((sql) => database.query(sql), sent);
});

describe("what the product sends to a vtgate, ADR 0048", () => {
  it("is planned for one shard, or those of its accounts, but for what looks at all accounts", () =>
    expectPlansOfOneShard(statements));

  it("locks what it locks on a MySQL", () => expectLocksKept(statements));

  it("reaches every table", () => {
    const sent = statements.map(({ text }) => text).join("\n");
    const missing = TABLES.filter((table) => !new RegExp(`\\b${table}\\b`).test(sent));
    expect(missing).toEqual([]);
  });
});
