import { accountNoOf } from "../common/ids.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { NoticeKind } from "./notice.ts";
import { hasNotice, insertNotices, isAccountThere, lockNotices } from "./notice-store.ts";

/**
 * Writes a notice that a link of an account was used a second time, unless the link has one. `subjectId` names the
 * link.
 */
export async function tellLinkReused(
  pool: Pool,
  accountId: string,
  subjectId: string,
): Promise<void> {
  const kind = NoticeKind.SessionLinkReused;
  await inTransaction(pool, async (tx) => {
    const clock = await lockNotices(tx);
    if (await hasNotice(tx, kind, subjectId)) return;
    // Check under the lock, which an account's deletion takes too. So the deletion finds all notices that were written
    // before it.
    if (!(await isAccountThere(tx, accountNoOf(accountId) ?? 0))) return;
    const since = clock.nowMicros;
    const notice = { accountId, kind, subjectId, level: 0, since, endsAt: undefined };
    await insertNotices(tx, clock, [notice]);
  });
}
