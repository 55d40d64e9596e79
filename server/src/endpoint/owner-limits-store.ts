import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";

const TIME_BYTES = 8;

/** Asks when an account's last tests were sent, in microseconds, oldest first; nothing is found before the first. */
export const testTimesOf = lookupOf<RowDataPacket & { test_times: Buffer }, number[]>({
  select: "SELECT account_no, test_times FROM account",
  key: ["account_no"],
  ending: "AND test_times IS NOT NULL",
  fromRow: ({ test_times: times }) =>
    Array.from({ length: times.length / TIME_BYTES }, (_, at) =>
      Number(times.readBigUInt64BE(at * TIME_BYTES)),
    ),
});

/** Notes when an account's last tests were sent. */
export function storeTestTimes(accountNo: number, micros: readonly number[]): Statement {
  const bytes = Buffer.alloc(micros.length * TIME_BYTES);
  for (const [at, time] of micros.entries()) bytes.writeBigUInt64BE(BigInt(time), at * TIME_BYTES);
  return {
    sql: "UPDATE account SET test_times = ? WHERE account_no = ?",
    values: [bytes, accountNo],
  };
}

/** Asks when an account's failed deliveries were last retried together, in microseconds; nothing before the first. */
export const lastBulkRetryOf = lookupOf<RowDataPacket & { bulk_retried_at: number }, number>({
  select: "SELECT account_no, bulk_retried_at FROM account",
  key: ["account_no"],
  ending: "AND bulk_retried_at IS NOT NULL",
  fromRow: (row) => row.bulk_retried_at,
});

/** Notes when failed deliveries of an account are retried together. */
export function storeBulkRetry(accountNo: number, nowMicros: number): Statement {
  return {
    sql: "UPDATE account SET bulk_retried_at = ? WHERE account_no = ?",
    values: [nowMicros, accountNo],
  };
}
