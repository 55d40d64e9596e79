import { donationRecordKey } from "../activity/activity-feed-store.ts";
import { ActivityType, Unit } from "../activity/activity-values.ts";
import type { Micros } from "../common/timestamps.ts";
import { lookupOf } from "../database/lookup.ts";
import { SqlText, type Statement, textOfValue } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";
import { DonationStatus } from "../donation/donation-status.ts";
import type { FeedChange } from "../write/write.ts";
import type { ImportedRow } from "./import-row.ts";

/** A row to import. Its SQL lacks only the account, the id and the time, which are known once the account is locked. */
export type PreparedRow = {
  readonly externalId: Buffer;
  /** The bytes of the external id as text, for comparison. */
  readonly name: string;
  readonly donatedAt: Micros;
  /** Columns of its donation and of its feed row, and the last columns of both. */
  readonly donation: string;
  readonly activity: string;
  readonly texts: string;
};

/** Rows to store. Each has the id at its place in `recordIds`. */
export type RowsToStore = {
  readonly accountNo: number;
  readonly recordedAt: number;
  readonly rows: readonly PreparedRow[];
  readonly recordIds: readonly string[];
};

type NameRow = RowDataPacket & { readonly external_id: Buffer };

/** Looks up which donations are stored, by account, platform and external id. Finds their names. */
export const storedNamesBy = lookupOf<NameRow, string>({
  select: "SELECT account_no, platform, external_id FROM donation",
  key: ["account_no", "platform", "external_id"],
  fromRow: ({ external_id }) => nameOf(external_id),
});

/** Returns a text that identifies the bytes of an external id. */
export function nameOf(externalId: Buffer): string {
  return externalId.toString("latin1");
}

/** Writes most of a row's SQL before its account is locked. Meanwhile the database stores the rows before. */
export function prepareRow(row: ImportedRow, platform: number): PreparedRow {
  const { externalId, amountCents, currency, donatedAt, donorName, message } = row;
  const { Paid } = DonationStatus;
  return {
    ...{ externalId, name: nameOf(externalId), donatedAt },
    donation: sqlOf(platform, externalId, Paid, amountCents, donatedAt, false),
    activity: sqlOf(ActivityType.Donation, platform, Unit.Cents, amountCents),
    texts: sqlOf(currency, donorName ?? null, message ?? null),
  };
}

/** Joins all at once: a text that grows piece by piece holds each piece in memory until it is sent. */
function sqlOf(...values: readonly unknown[]): string {
  return values.map(textOfValue).join();
}

/** Stores rows (at least one) as paid donations. */
export function insertDonations({
  rows,
  recordIds,
  accountNo,
  recordedAt,
}: RowsToStore): Statement {
  const sql = rows.map(({ donation, texts }, place) => {
    return `(${accountNo},'${recordIds[place]}',${recordedAt},${donation},${texts})`;
  });
  return {
    sql: `INSERT INTO donation (account_no, record_id, recorded_at, platform, external_id, status,
      amount_cents, donated_at, test, currency, donor_name, message) VALUES ?`,
    values: [new SqlText(sql.join())],
  };
}

/** Shows rows (at least one) in the feed. */
export function showDonations({ rows, recordIds, accountNo, recordedAt }: RowsToStore): FeedChange {
  const sql = rows.map(({ activity, texts, donatedAt }, place) => {
    const occurredAt = donatedAt === recordedAt ? "NULL" : donatedAt;
    const recordKey = donationRecordKey(recordIds[place] ?? "");
    return `(${accountNo},${recordedAt},'${recordKey}',${occurredAt},${activity},${texts})`;
  });
  return {
    feedChange: {
      sql: `INSERT INTO activity (account_no, recorded_at, record_key, occurred_at, type, platform, unit,
        value, currency, actor_name, message) VALUES ?`,
      values: [new SqlText(sql.join())],
    },
  };
}
