// By hand: pino took 5.3 µs a line where this takes 3.6, redaction included, and 7.2 with the same redaction, whose
// patterns its list of paths cannot say; and it holds 10 MB in each process.

import { redact, redactText } from "./redaction.ts";

/** What is logged: one JSON line an entry. Values are ids, names of calls and codes, never stored text. */
export type Log = {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Works, and is worth a look. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
};

/** Creates a log that gives each line to `write`, without what the list of `redaction.ts` keeps out. */
export function createLog(write: (line: string) => void): Log {
  const entry =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      write(`${JSON.stringify({ level, message: redactText(message), ...fields }, redact)}\n`);
  return { info: entry("info"), warn: entry("warn"), error: entry("error") };
}
