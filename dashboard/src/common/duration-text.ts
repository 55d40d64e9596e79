import type { Duration } from "@bufbuild/protobuf/wkt";
import { LOCALE, texts } from "../texts.ts";

const SECOND_MS = 1_000;
const { ms, s, min, h } = texts.units;

/** Returns a duration in milliseconds; 0 if there is none. */
export function durationMs(duration: Duration | undefined): number {
  if (duration === undefined) return 0;
  return Number(duration.seconds) * SECOND_MS + duration.nanos / 1_000_000;
}

/** Formats a duration as `142 ms` or `3.2 s`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < SECOND_MS) return `${Math.round(milliseconds)} ${ms}`;
  const seconds = (milliseconds / SECOND_MS).toLocaleString(LOCALE, { maximumFractionDigits: 1 });
  return `${seconds} ${s}`;
}

/** Formats a remaining time as `2 h 03 min`, `4 min 05 s` or `9 s`. */
export function countdownText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / SECOND_MS);
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds} ${s}`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} ${min} ${two(seconds % 60)} ${s}`;
  return `${Math.floor(seconds / 3_600)} ${h} ${two(Math.floor((seconds % 3_600) / 60))} ${min}`;
}
