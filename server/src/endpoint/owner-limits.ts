import { DomainError, ErrorCode } from "../common/errors.ts";

/** The most endpoints of an account. §6 */
export const MAX_ENDPOINTS = 10;
/** The most test deliveries of an account in any minute. */
export const MAX_TESTS = 10;
/** The span of the limits on tests, bulk retries and new API keys: a minute, in microseconds. §8 */
export const SPAN_MICROS = 60_000_000;

/**
 * Returns the times of the tests that still count and of the new one, in microseconds, oldest first. Fails if the
 * account has sent `MAX_TESTS` within a minute.
 */
export function withTestAt(nowMicros: number, before: readonly number[]): number[] {
  const counted = before.filter((time) => isWithinSpan(time, nowMicros)).slice(-MAX_TESTS);
  const [oldest] = counted;
  if (counted.length < MAX_TESTS || oldest === undefined) return [...counted, nowMicros];
  throw new DomainError(
    ErrorCode.TestLimitReached,
    `The account sent ${MAX_TESTS} tests within a minute, which is the maximum; send the next one in ${secondsUntil(oldest, nowMicros)} s.`,
  );
}

/** Fails if the account retried its failed deliveries together within the last minute. */
export function checkBulkRetry(nowMicros: number, last: number | undefined): void {
  if (last === undefined || !isWithinSpan(last, nowMicros)) return;
  throw new DomainError(
    ErrorCode.BulkRetryLimitReached,
    `The account retried failed deliveries within the last minute; do it again in ${secondsUntil(last, nowMicros)} s.`,
  );
}

/**
 * Tells whether a time counts: whether it is within the last minute. A future time does not count, because calls would
 * be refused for hours after the clock stepped back.
 */
export function isWithinSpan(time: number, nowMicros: number): boolean {
  return time > nowMicros - SPAN_MICROS && time <= nowMicros;
}

/** Returns the number of seconds, rounded up, until a time no longer counts. */
export function secondsUntil(countedFrom: number, nowMicros: number): number {
  return Math.ceil((countedFrom + SPAN_MICROS - nowMicros) / 1e6);
}
