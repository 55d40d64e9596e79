import { accountNoOf } from "../common/ids.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { NoticeKind } from "./notice.ts";
import { hasNotice, insertNotices, isAccountThere, lockNotices } from "./notice-store.ts";

/** Writes once that a link of an account was used in a second browser; `subjectId` names the link. */
export async function tellLinkReused(
  pool: Pool,
  accountId: string,
  subjectId: string,
): Promise<void> {
  const kind = NoticeKind.SessionLinkReused;
  await inTransaction(pool, async (tx) => {
    const clock = await lockNotices(tx);
    if (await hasNotice(tx, kind, subjectId)) return;
    // Behind the lock: what deletes the account removes its notices before or after this one.
    if (!(await isAccountThere(tx, accountNoOf(accountId) ?? 0))) return;
    const since = clock.nowMicros;
    const notice = { accountId, kind, subjectId, level: 0, since, endsAt: undefined };
    await insertNotices(tx, clock, [notice]);
  });
}
