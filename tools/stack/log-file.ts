import { closeSync, openSync, writeSync } from "node:fs";
import { createLogWriter, type LogWriter } from "@activity/server";

/** Appends the product's log lines to a file, so that the terminal stays readable. */
export function openLogFile(path: string): LogWriter & { readonly path: string; close(): void } {
  const file = openSync(path, "a", 0o600);
  const writer = createLogWriter((text) => writeSync(file, text));
  return {
    path,
    ...writer,
    close() {
      writer.flush();
      closeSync(file);
    },
  };
}
