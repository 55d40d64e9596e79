import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";

/** What identifies a platform event to the platform's connection. */
export type PlatformEventKey = {
  readonly accountNo: number;
  readonly platform: number;
  readonly externalId: Buffer;
};

/** What is known of a platform event beside its row in the feed. */
export type PlatformEventRecord = PlatformEventKey & {
  readonly recordId: string;
  readonly recordedAt: number;
  readonly test: boolean;
  readonly deleted: boolean;
};

type PlatformEventRow = RowDataPacket & {
  record_id: string;
  recorded_at: number;
  test: number;
  deleted: number;
};

/** Finds a platform event, deleted ones included. */
export async function findPlatformEvent(
  tx: Transaction,
  key: PlatformEventKey,
): Promise<PlatformEventRecord | undefined> {
  const [rows] = await tx.execute<PlatformEventRow[]>(
    `SELECT record_id, recorded_at, test, deleted FROM platform_event
     WHERE account_no = ? AND platform = ? AND external_id = ?`,
    [key.accountNo, key.platform, key.externalId],
  );
  return rows[0] && platformEventFromRow(rows[0], key);
}

/** Stores a new platform event. */
export async function insertPlatformEvent(
  tx: Transaction,
  platformEvent: PlatformEventRecord,
): Promise<void> {
  const { accountNo, platform, externalId, recordId, recordedAt, test } = platformEvent;
  await tx.execute(
    `INSERT INTO platform_event (account_no, platform, external_id, record_id, recorded_at, test)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [accountNo, platform, externalId, recordId, recordedAt, test],
  );
}

/** Marks a platform event as deleted. */
export async function markPlatformEventDeleted(
  tx: Transaction,
  { accountNo, platform, externalId }: PlatformEventKey,
): Promise<void> {
  await tx.execute(
    `UPDATE platform_event SET deleted = TRUE
     WHERE account_no = ? AND platform = ? AND external_id = ?`,
    [accountNo, platform, externalId],
  );
}

function platformEventFromRow(row: PlatformEventRow, key: PlatformEventKey): PlatformEventRecord {
  return {
    ...key,
    recordId: row.record_id,
    recordedAt: row.recorded_at,
    test: row.test === 1,
    deleted: row.deleted === 1,
  };
}
