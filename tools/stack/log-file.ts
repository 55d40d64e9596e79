import { closeSync, openSync, writeSync } from "node:fs";

/** Appends the product's log lines to a file, so that the terminal stays readable. */
export function openLogFile(path: string): {
  readonly path: string;
  write(line: string): void;
  close(): void;
} {
  const file = openSync(path, "a", 0o600);
  return { path, write: (line) => writeSync(file, line), close: () => closeSync(file) };
}
