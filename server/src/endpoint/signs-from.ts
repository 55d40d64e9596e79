import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { microsFromTimestamp } from "../common/timestamps.ts";

const MAX_HOURS = 24;
const HOUR_MICROS = 3_600_000_000;

/**
 * Parses the time from which a new signing secret signs, in microseconds; `undefined` means now. Fails with
 * `invalid_parameter` unless it is later than now, by at most 24 hours. A past time is a mistake: the receiver would
 * refuse events at once.
 */
export function parseSignsFrom(
  signsFrom: Timestamp | undefined,
  nowMicros: number,
): number | undefined {
  if (signsFrom === undefined) return undefined;
  const micros = Number(microsFromTimestamp(signsFrom, "signs_from"));
  if (micros > nowMicros && micros <= nowMicros + MAX_HOURS * HOUR_MICROS) return micros;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    `signs_from accepts a time later than now and at most ${MAX_HOURS} hours ahead; leave it out to rotate at once.`,
  );
}
