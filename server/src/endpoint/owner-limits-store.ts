import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";

const TIME_BYTES = 8;

/**
 * Looks up when an account's last tests were sent, in microseconds, oldest first. Finds nothing before the first test.
 */
export const testTimesOf = lookupOf<RowDataPacket & { test_times: Buffer }, number[]>({
  select: "SELECT account_no, test_times FROM account",
  key: ["account_no"],
  ending: "AND test_times IS NOT NULL",
  fromRow: ({ test_times: times }) =>
    Array.from({ length: times.length / TIME_BYTES }, (_, at) =>
      Number(times.readBigUInt64BE(at * TIME_BYTES)),
    ),
});

export function storeTestTimes(accountNo: number, micros: readonly number[]): Statement {
  const bytes = Buffer.alloc(micros.length * TIME_BYTES);
  for (const [at, time] of micros.entries()) bytes.writeBigUInt64BE(BigInt(time), at * TIME_BYTES);
  return {
    sql: "UPDATE account SET test_times = ? WHERE account_no = ?",
    values: [bytes, accountNo],
  };
}

/** Looks up the time of an account's last bulk retry, in microseconds. Finds nothing before the first one. */
export const lastBulkRetryOf = lookupOf<RowDataPacket & { bulk_retried_at: number }, number>({
  select: "SELECT account_no, bulk_retried_at FROM account",
  key: ["account_no"],
  ending: "AND bulk_retried_at IS NOT NULL",
  fromRow: (row) => row.bulk_retried_at,
});

export function storeBulkRetry(accountNo: number, nowMicros: number): Statement {
  return {
    sql: "UPDATE account SET bulk_retried_at = ? WHERE account_no = ?",
    values: [nowMicros, accountNo],
  };
}
