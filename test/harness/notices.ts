import { NOW_MICROS } from "../../server/src/database/now.ts";
import { tellLinkReused } from "../../server/src/notice/link-reuse.ts";
import { sweepNotices } from "../../server/src/notice/notice-sweep.ts";
import { type TestDatabase, withProductPool } from "./database.ts";

/** Makes an account's keys end in ten minutes. Then writes the due notices, as each core does every minute. */
export async function tellOfKeys(database: TestDatabase, accountId: string): Promise<void> {
  await database.query(
    `UPDATE api_key SET expires_at = ${NOW_MICROS} + 6e8
     WHERE account_no = (SELECT account_no FROM account WHERE id = ?)`,
    [accountId],
  );
  await withProductPool(database, sweepNotices);
}

/** Notifies an owner that a session link was used twice. */
export const tellOfLink = (database: TestDatabase, accountId: string) =>
  withProductPool(database, (pool) => tellLinkReused(pool, accountId, accountId));
