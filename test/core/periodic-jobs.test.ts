import { DeliveryState } from "@activity/proto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import { createAccount } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";

// The core's jobs run when a test moves this clock.
beforeAll(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterAll(() => void vi.useRealTimers());

const stack = useTestStack();

/** Polls a column, and moves the clock by ten minutes before each read. Each job runs at least that often. */
const inTime = (sql: string) =>
  expect.poll(() => {
    vi.advanceTimersByTime(600_000);
    return stack.database.column(sql);
  });

const MINUTES_AGO = `${NOW_MICROS} - ? * 60000000`;
const DAY = 24 * 60;
const HASH = "UNHEX(SHA2(RAND(), 256))";
const ID = "'abcdefghijklmno'";

/**
 * A row's columns, and the values from the third column on. The first two columns get a time, in minutes ago, and a
 * number that names the row.
 */
const ROWS: Readonly<Record<string, readonly [columns: string, values: string]>> = {
  session_link: ["expires_at, scopes, code_hash, account_no", `${HASH}, 1`],
  dashboard_session: ["expires_at, scopes, session_hash, account_no", `${HASH}, 1`],
  rate_window: [
    "last_at, admitted, bucket, ok, ring, batch, batch_admitted",
    `RAND(), TRUE, '', 'a batch.', 1`,
  ],
  notice: [
    "closed_at, sequence, account_id, kind, subject_id, level, since",
    `${ID}, 1, ${ID}, 0, 1`,
  ],
  delivery: [
    "created_at, run, id, account_no, endpoint_id, event_id, kind, test, state, attempts",
    `LEFT(RAND(), 15), 1, ${ID}, ${ID}, 1, FALSE, ${DeliveryState.FAILED}, 1`,
  ],
};

it.each([
  ["session_link", "expired", 0, -1],
  ["dashboard_session", "expired", 0, -1],
  ["rate_window", "a minute old", 1, 0],
  ["notice", "closed for 30 days", 30 * DAY, 29 * DAY],
  ["delivery", "30 days old", 30 * DAY, 29 * DAY],
])("a row of %s is removed in the background once it is %s", async (table, _, old, young) => {
  const [columns = "", values] = ROWS[table] ?? [];
  const row = `(${MINUTES_AGO}, ?, ${values})`;
  // Inserts both rows at once. Otherwise a job that removes both could pass.
  const insert = `INSERT INTO ${table} (${columns}) VALUES ${row}, ${row}`;
  await stack.database.query(insert, [old, 0, young, 1]);
  await inTime(`SELECT ${columns.split(", ")[1]} FROM ${table}`).toEqual([1]);
});

it("a deletion of an account that was interrupted is finished in the background", async () => {
  const id = await createAccount(stack);
  await stack.database.query("UPDATE account SET deleted_at = 1 WHERE id = ?", [id]);
  await inTime("SELECT purged_at > 0 FROM account").toEqual([1]);
});
