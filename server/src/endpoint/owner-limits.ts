import { DomainError, ErrorCode } from "../common/errors.ts";

/** The most endpoints of an account. §6 */
export const MAX_ENDPOINTS = 10;
/** The most test deliveries of an account in any minute. */
export const MAX_TESTS = 10;
/** A minute in microseconds, for tests and between two bulk retries. */
export const SPAN_MICROS = 60_000_000;

/**
 * Returns the times of the tests that still count and of the new one, in microseconds, oldest first. Fails if the
 * account has sent `MAX_TESTS` within a minute.
 */
export function withTestAt(nowMicros: number, before: readonly number[]): number[] {
  const counted = before.filter((time) => time > nowMicros - SPAN_MICROS).slice(-MAX_TESTS);
  const [oldest] = counted;
  if (counted.length < MAX_TESTS || oldest === undefined) return [...counted, nowMicros];
  throw new DomainError(
    ErrorCode.TestLimitReached,
    `The account sent ${MAX_TESTS} tests within a minute, which is the maximum; send the next one in ${secondsUntil(oldest, nowMicros)} s.`,
  );
}

/** Fails if the account retried its failed deliveries together within the last minute. */
export function checkBulkRetry(nowMicros: number, last: number | undefined): void {
  if (last === undefined || last <= nowMicros - SPAN_MICROS) return;
  throw new DomainError(
    ErrorCode.BulkRetryLimitReached,
    `The account retried failed deliveries within the last minute; do it again in ${secondsUntil(last, nowMicros)} s.`,
  );
}

/** Never longer than the span, even if the clock stepped back. */
function secondsUntil(countedFrom: number, nowMicros: number): number {
  const leftMicros = Math.min(SPAN_MICROS, countedFrom + SPAN_MICROS - nowMicros);
  return Math.ceil(leftMicros / 1e6);
}
