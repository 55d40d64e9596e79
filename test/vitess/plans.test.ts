import { channel } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { format } from "mysql2/promise";
import { beforeAll, describe, expect, it } from "vitest";
import { withoutValues } from "../../server/src/database/without-values.ts";
import { useServices } from "../harness/services.ts";
import { tellStory } from "./story.ts";

/** Statements that go to every shard, by their beginning, with the reason. ADR 0048 */
const SCATTERED: Readonly<Record<string, string>> = {
  "SELECT /*vt+ SCATTER_ERRORS_AS_WARNINGS=? */ account_no, endpoint_id, delivery_id FROM outbox_entry":
    "a claim takes waiting deliveries of all accounts",
  "SELECT COUNT(*) AS entries": "metrics count waiting deliveries of all accounts",
  "SELECT COUNT(*) AS overdue": "metrics count waiting deliveries of all accounts",
  "SELECT account_no, id, run, endpoint_id FROM delivery":
    "a job looks for orphaned runs in all accounts",
  "SELECT account_no, delivery_id, run, attempt, LEAST(started_at":
    "a job counts the attempts of all accounts",
  "SELECT account_no, id AS delivery_id, event_id, created_at FROM delivery": "retention",
  "SELECT account_no, endpoint_id AS id, failed_at":
    "notices tell of failing endpoints of all accounts",
  "SELECT account_no, id AS id, next_secret_from": "notices tell of rotations of all accounts",
  "SELECT account_no, id AS id, expires_at": "notices tell of ending keys of all accounts",
  "DELETE FROM delivery_stat WHERE began_at": "retention",
  "DELETE FROM session_link WHERE expires_at": "retention",
  "DELETE FROM dashboard_session WHERE expires_at": "retention",
  "SELECT /*vt+ SCATTER_ERRORS_AS_WARNINGS=? */ id, feed_changed_at FROM account":
    "a job looks for changes of all feeds",
  "SELECT account_no FROM account": "a job looks for unfinished deletions in all accounts",
  "SELECT account_no, id, secret, next_secret FROM endpoint":
    "an operator encrypts all secrets again",
};

type Message = { readonly query?: string; readonly values?: unknown };
/** A statement as it was sent, and its form without values. */
type SentStatement = { readonly text: string; readonly shape: string };

/** The channels on which the driver tells of each statement. */
const CHANNELS = ["mysql2:query", "mysql2:execute"].map((name) => channel(`tracing:${name}:start`));
const PLANNED = /^(SELECT|INSERT|UPDATE|DELETE)\b/;

type Plan = {
  readonly Variant?: string;
  readonly Query?: string;
  readonly Inputs?: readonly Plan[];
};

type PlannedStatement = SentStatement & { readonly plan: Plan };

const keyspace = (name: string): { tables: Record<string, unknown> } => {
  const path = `../../server/src/database/vitess/${name}/vschema.json`;
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
};
const TABLES = [
  ...Object.keys(keyspace("activity").tables),
  ...["rate_window", "service_credential", "installation", "notice"],
];

const services = useServices();
/** Every kind of statement that the product sends, with the plan that its vtgate makes. */
const statements: PlannedStatement[] = [];
beforeAll(async () => {
  for (const statement of await statementsSentIn(() => tellStory(services))) {
    const explain = `VEXPLAIN PLAN ${statement.text}`;
    const [row] = await services.database.query<{ JSON: string }>(explain);
    statements.push({ ...statement, plan: JSON.parse(row?.JSON ?? "{}") });
  }
});

describe("ADR 0048: each statement that the product sends to a vtgate", () => {
  it("goes to the shards of its accounts only, unless it reads all accounts", () => {
    const isScatter = ({ Variant }: Plan) => Variant === "Scatter";
    const scattered = statements.filter(({ plan }) => hasPart(plan, isScatter));
    const named = Object.keys(SCATTERED);
    const reasonOf = ({ shape }: SentStatement) =>
      named.find((beginning) => shape.startsWith(beginning));
    const unnamed = scattered.filter((statement) => reasonOf(statement) === undefined);
    expect(unnamed.map(({ shape }) => shape)).toEqual([]);
    expect([...new Set(scattered.map(reasonOf))].sort()).toEqual(named.sort());
  });

  it("takes the same locks as on a MySQL: a vtgate silently drops a FOR UPDATE behind a subquery", () => {
    const locking = statements.filter(({ text }) => /\bFOR UPDATE\b/.test(text));
    expect(locking.length).toBeGreaterThan(0);
    const isLock = ({ Query = "" }: Plan) => / for update\b/.test(Query);
    const unlocked = locking.filter(({ plan }) => !hasPart(plan, isLock));
    expect(unlocked.map(({ shape }) => shape)).toEqual([]);
  });

  it("locks no row of an account or key only to read it, except to open a session", () => {
    const isShared = ({ Query = "" }: Plan) => / lock in share mode\b/.test(Query);
    // Two locks are harmless. One does not reach into its subquery. The other is on windows that the packet has already
    // locked.
    const isHarmless = ({ Query = "" }: Plan) =>
      /^select (?:(?! from ).)* from (\(|rate_window\b)/.test(Query);
    const isLock = (part: Plan) => isShared(part) && !isHarmless(part);
    const locking = statements.filter(({ plan }) => hasPart(plan, isLock));
    const opened = expect.stringMatching(/^INSERT INTO dashboard_session\b/);
    expect(locking.map(({ shape }) => shape)).toEqual([opened]);
  });

  it("is known here: the statements name every table", () => {
    const sent = statements.map(({ text }) => text).join("\n");
    const missing = TABLES.filter((table) => !new RegExp(`\\b${table}\\b`).test(sent));
    expect(missing).toEqual([]);
  });
});

function hasPart(plan: Plan, is: (part: Plan) => boolean): boolean {
  return is(plan) || (plan.Inputs ?? []).some((input) => hasPart(input, is));
}

/**
 * Returns the statements that this process sends while `story` runs, each statement of a packet separately. Of
 * statements that differ only in values it keeps the longest. Leaves out statements for which a vtgate makes no plan.
 */
async function statementsSentIn(story: () => Promise<void>): Promise<SentStatement[]> {
  const sent = new Map<string, SentStatement>();
  const keep = (message: unknown) => {
    const { query = "", values } = message as Message;
    for (const statement of query.split(";\n")) {
      const text = withValues(statement.trim(), values);
      const shape = withoutValues(text);
      const known = sent.get(shape)?.text.length ?? 0;
      if (PLANNED.test(text) && text.length > known) sent.set(shape, { text, shape });
    }
  };
  for (const each of CHANNELS) each.subscribe(keep);
  try {
    await story();
  } finally {
    for (const each of CHANNELS) each.unsubscribe(keep);
  }
  return [...sent.values()];
}

/** Puts values into a statement. Only prepared statements have separate values, with numbers wrapped in a type. */
function withValues(statement: string, values: unknown): string {
  if (!Array.isArray(values) || values.length === 0) return statement;
  const plain = values.map((each: unknown) =>
    typeof each === "object" && each !== null && "type" in each && "value" in each
      ? each.value
      : each,
  );
  return format(statement, plain as string[]);
}
