import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Services, startServices } from "../harness/services.ts";
import { type SentStatement, statementsSentIn } from "./sent-statements.ts";
import { tellStory } from "./story.ts";

/** Statements that go to every shard, by how they begin, and why they may. ADR 0048 */
const SCATTERED: Readonly<Record<string, string>> = {
  "SELECT /*vt+ SCATTER_ERRORS_AS_WARNINGS=? */ account_no, endpoint_id, delivery_id FROM outbox_entry":
    "a claim takes what waits, whosesoever it is",
  "SELECT SUM(task": "metrics count what waits of all accounts",
  "SELECT COUNT(*) AS overdue": "metrics count what waits of all accounts",
  "SELECT account_no, id, run, endpoint_id FROM delivery":
    "orphaned runs are looked for in all accounts",
  "SELECT account_no, delivery_id, run, attempt, started_at":
    "attempts of all accounts are counted",
  "SELECT account_no, id AS delivery_id, event_id, created_at FROM delivery": "retention",
  "DELETE FROM delivery_stat WHERE began_at": "retention",
  "DELETE FROM session_link WHERE expires_at": "retention",
  "DELETE FROM dashboard_session WHERE expires_at": "retention",
  "SELECT account_no FROM account": "deletions that were broken off are looked for in all accounts",
  "SELECT account_no, id, secret, next_secret FROM endpoint":
    "an operator encrypts all secrets anew",
};

const keyspace = (name: string): { tables: Record<string, unknown> } => {
  const path = `../../server/src/database/vitess/${name}/vschema.json`;
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
};
const TABLES = [
  ...Object.keys(keyspace("activity").tables),
  ...["rate_window", "service_credential", "installation"],
];

type Plan = { readonly Variant?: string; readonly Inputs?: readonly Plan[] };

let services: Services;
let statements: readonly SentStatement[];
beforeAll(async () => {
  services = await startServices();
  statements = await statementsSentIn(() => tellStory(services));
});
afterAll(() => services.stop());

describe("what the product sends to a vtgate, ADR 0048", () => {
  it("is planned for one shard, or those of its accounts, but for what looks at all accounts", async () => {
    const scattered = new Set<string>();
    for (const { text, shape } of statements) {
      const [row] = await services.database.query<{ JSON: string }>(`VEXPLAIN PLAN ${text}`);
      if (isScattered(JSON.parse(row?.JSON ?? "{}"))) scattered.add(shape);
    }
    const named = Object.keys(SCATTERED);
    const reasonOf = (shape: string) => named.find((beginning) => shape.startsWith(beginning));
    expect([...scattered].filter((shape) => reasonOf(shape) === undefined)).toEqual([]);
    expect([...new Set([...scattered].map(reasonOf))].sort()).toEqual(named.sort());
  });

  it("reaches every table", () => {
    const sent = statements.map(({ text }) => text).join("\n");
    const missing = TABLES.filter((table) => !new RegExp(`\\b${table}\\b`).test(sent));
    expect(missing).toEqual([]);
  });
});

function isScattered({ Variant, Inputs = [] }: Plan): boolean {
  return Variant === "Scatter" || Inputs.some(isScattered);
}
