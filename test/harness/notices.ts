import { createPool } from "../../server/src/database/pool.ts";
import { tellLinkReused } from "../../server/src/notice/link-reuse.ts";
import { sweepNotices } from "../../server/src/notice/notice-sweep.ts";
import type { TestDatabase } from "./database.ts";

/** Makes an account's keys end within minutes. Then it sweeps, as each core does every minute. */
export async function tellOfKeys({ url, query }: TestDatabase, accountId: string): Promise<void> {
  await query(
    `UPDATE api_key SET expires_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 6e8
     WHERE account_no = (SELECT account_no FROM account WHERE id = ?)`,
    [accountId],
  );
  const pool = createPool(url, 1);
  await sweepNotices(pool);
  await pool.end();
}

/** Notifies an owner that a session link was used twice. */
export async function tellOfLink({ url }: TestDatabase, accountId: string): Promise<void> {
  const pool = createPool(url, 1);
  await tellLinkReused(pool, accountId, accountId);
  await pool.end();
}
