import type { Insert, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";

/** The key by which a platform's connection identifies a platform event. */
export type PlatformEventKey = {
  readonly accountNo: number;
  readonly platform: number;
  readonly externalId: Buffer;
};

/** The stored part of a platform event without its feed row. */
export type PlatformEventRecord = PlatformEventKey & {
  readonly recordId: string;
  readonly recordedAt: number;
  readonly test: boolean;
  readonly deleted: boolean;
};

type PlatformEventRow = RowDataPacket & {
  account_no: number;
  platform: number;
  external_id: Buffer;
  record_id: string;
  recorded_at: number;
  test: number;
  deleted: number;
};

/** Looks up platform events by account, platform and external id, deleted ones included. */
export const platformEventsBy = lookupOf<PlatformEventRow, PlatformEventRecord>({
  select: `SELECT account_no, platform, external_id, record_id, recorded_at, test, deleted
    FROM platform_event`,
  key: ["account_no", "platform", "external_id"],
  fromRow: (row) => ({
    accountNo: row.account_no,
    platform: row.platform,
    externalId: row.external_id,
    recordId: row.record_id,
    recordedAt: row.recorded_at,
    test: row.test === 1,
    deleted: row.deleted === 1,
  }),
});

const PLATFORM_EVENT: Table = {
  insert: `INSERT INTO platform_event
    (account_no, platform, external_id, record_id, recorded_at, test)`,
};

export function storePlatformEvent(event: PlatformEventRecord): Insert {
  const { accountNo, platform, externalId, recordId, recordedAt, test } = event;
  return {
    into: PLATFORM_EVENT,
    row: [accountNo, platform, externalId, recordId, recordedAt, test],
  };
}

export function markPlatformEventDeleted(key: PlatformEventKey): Statement {
  return {
    sql: `UPDATE platform_event SET deleted = TRUE
      WHERE account_no = ? AND platform = ? AND external_id = ?`,
    values: [key.accountNo, key.platform, key.externalId],
  };
}
