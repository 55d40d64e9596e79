import { expect } from "vitest";
import type { Services } from "../harness/services.ts";
import { type SentStatement, statementsSentIn } from "./sent-statements.ts";
import { tellStory } from "./story.ts";

/** Statements that go to every shard, by their beginning, with the reason. ADR 0048 */
const SCATTERED: Readonly<Record<string, string>> = {
  "SELECT /*vt+ SCATTER_ERRORS_AS_WARNINGS=? */ account_no, endpoint_id, delivery_id FROM outbox_entry":
    "a claim takes waiting deliveries of all accounts",
  "SELECT SUM(task": "metrics count waiting deliveries of all accounts",
  "SELECT COUNT(*) AS overdue": "metrics count waiting deliveries of all accounts",
  "SELECT account_no, id, run, endpoint_id FROM delivery":
    "a job looks for orphaned runs in all accounts",
  "SELECT account_no, delivery_id, run, attempt, started_at":
    "a job counts the attempts of all accounts",
  "SELECT account_no, id AS delivery_id, event_id, created_at FROM delivery": "retention",
  "SELECT account_no, endpoint_id AS id, began_at":
    "notices tell of failing endpoints of all accounts",
  "SELECT account_no, id AS id, next_secret_from": "notices tell of rotations of all accounts",
  "SELECT account_no, id AS id, expires_at": "notices tell of ending keys of all accounts",
  "DELETE FROM delivery_stat WHERE began_at": "retention",
  "DELETE FROM session_link WHERE expires_at": "retention",
  "DELETE FROM dashboard_session WHERE expires_at": "retention",
  "SELECT id, feed_changed_at FROM account": "a job looks for changes of all feeds",
  "SELECT account_no FROM account": "a job looks for unfinished deletions in all accounts",
  "SELECT account_no, id, secret, next_secret FROM endpoint":
    "an operator encrypts all secrets again",
};

type Plan = {
  readonly Variant?: string;
  readonly Query?: string;
  readonly Inputs?: readonly Plan[];
};

/** A statement and its plan in a vtgate. */
export type PlannedStatement = SentStatement & { readonly plan: Plan };

/** Makes the product send every kind of statement. Reads the plan of each from its vtgate. */
export async function planStatements(services: Services): Promise<readonly PlannedStatement[]> {
  const planned: PlannedStatement[] = [];
  for (const statement of await statementsSentIn(() => tellStory(services))) {
    const explain = `VEXPLAIN PLAN ${statement.text}`;
    const [row] = await services.database.query<{ JSON: string }>(explain);
    planned.push({ ...statement, plan: JSON.parse(row?.JSON ?? "{}") });
  }
  return planned;
}

/** Checks that statements go to one shard. Only those in `SCATTERED` may go to all, and each of them must occur. */
export function expectPlansOfOneShard(statements: readonly PlannedStatement[]): void {
  const scattered = new Set(
    statements
      .filter(({ plan }) => hasPart(plan, ({ Variant }) => Variant === "Scatter"))
      .map(({ shape }) => shape),
  );
  const named = Object.keys(SCATTERED);
  const reasonOf = (shape: string) => named.find((beginning) => shape.startsWith(beginning));
  expect([...scattered].filter((shape) => reasonOf(shape) === undefined)).toEqual([]);
  expect([...new Set([...scattered].map(reasonOf))].sort()).toEqual(named.sort());
}

/** Checks that shards get the lock too. Behind a subquery a vtgate silently drops FOR UPDATE. */
export function expectLocksKept(statements: readonly PlannedStatement[]): void {
  const locking = statements.filter(({ text }) => /\bFOR UPDATE\b/.test(text));
  expect(locking.length).toBeGreaterThan(0);
  const isLock = ({ Query = "" }: Plan) => / for update\b/.test(Query);
  const unlocked = locking.filter(({ plan }) => !hasPart(plan, isLock));
  expect(unlocked.map(({ shape }) => shape)).toEqual([]);
}

function hasPart(plan: Plan, is: (part: Plan) => boolean): boolean {
  return is(plan) || (plan.Inputs ?? []).some((input) => hasPart(input, is));
}
