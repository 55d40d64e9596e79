import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { DomainError, ErrorCode } from "./errors.ts";

/** Microseconds since 1970-01-01T00:00:00Z: a number if exact, else a bigint. */
export type Micros = number | bigint;

/** A BIGINT column as the driver gives it: a number if exact, else decimal digits. */
export type MicrosColumn = number | string;

const SECONDS_MIN = -62_135_596_800n;
const SECONDS_MAX = 253_402_300_799n;

/** Converts stored microseconds to a Timestamp. */
export function timestampFromMicros(micros: Micros | MicrosColumn): Timestamp {
  if (typeof micros !== "number") return timestampFromBigMicros(BigInt(micros));
  const seconds = Math.floor(micros / 1e6);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (micros - seconds * 1e6) * 1000,
  };
}

function timestampFromBigMicros(micros: bigint): Timestamp {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: (micros - fraction) / 1_000_000n,
    nanos: Number(fraction) * 1000,
  };
}

/** Converts stored microseconds, at least 0, to a Duration. */
export function durationFromMicros(micros: number): Duration {
  const seconds = Math.floor(micros / 1e6);
  return {
    $typeName: "google.protobuf.Duration",
    seconds: BigInt(seconds),
    nanos: (micros - seconds * 1e6) * 1000,
  };
}

/**
 * Converts a Timestamp to microseconds. Fails with `invalid_parameter`, naming `field`, for a time outside the
 * years 0001 to 9999 or finer than a microsecond: neither can be stored exactly.
 */
export function microsFromTimestamp(timestamp: Timestamp, field: string): Micros {
  const { seconds, nanos } = timestamp;
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX || nanos < 0 || nanos > 999_999_999) {
    throw new DomainError(
      ErrorCode.InvalidParameter,
      `${field} accepts a time from year 0001 to year 9999.`,
    );
  }
  if (nanos % 1000 !== 0) {
    throw new DomainError(
      ErrorCode.InvalidParameter,
      `${field} accepts whole microseconds: at most six fractional digits.`,
    );
  }
  const micros = seconds * 1_000_000n + BigInt(nanos / 1000);
  const asNumber = Number(micros);
  return Number.isSafeInteger(asNumber) ? asNumber : micros;
}

/** Like `microsFromTimestamp`, for a required field: its absence also fails with `invalid_parameter`. */
export function requiredMicros(timestamp: Timestamp | undefined, field: string): Micros {
  if (timestamp !== undefined) return microsFromTimestamp(timestamp, field);
  throw new DomainError(ErrorCode.InvalidParameter, `${field} is required.`);
}
