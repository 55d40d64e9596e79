import { closeSync, openSync, writeSync } from "node:fs";
import { createLogWriter, type LogWriter } from "@activity/server";

/**
 * Appends the product's log lines to a file, so that the terminal stays readable. What is written after the
 * close is dropped: a call that the stop cut off can end, and be logged, later than everything else.
 */
export function openLogFile(path: string): LogWriter & { readonly path: string; close(): void } {
  const file = openSync(path, "a", 0o600);
  let isOpen = true;
  const writer = createLogWriter((text) => {
    if (isOpen) writeSync(file, text);
  });
  return {
    path,
    ...writer,
    close() {
      writer.flush();
      isOpen = false;
      closeSync(file);
    },
  };
}
