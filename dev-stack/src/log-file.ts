import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { createLogWriter, type LogWriter } from "@activity/server";
import { stackErrorFromFile } from "./stack-error.ts";

/**
 * The most bytes of a log file. Before a text would exceed it, the file is renamed to `<path>.1`, which replaces the
 * previous one, and a new file is begun.
 */
const LOG_LIMIT_BYTES = 16 * 1024 * 1024;

/**
 * Appends the product's log lines to a file, so that the terminal stays readable. The two files together take at most
 * twice `limitBytes`, unless one text is longer. Drops lines after `close`: a call that the stop interrupted may log
 * later.
 */
export function openLogFile(
  path: string,
  limitBytes: number = LOG_LIMIT_BYTES,
): LogWriter & { readonly path: string; close(): void } {
  let file = open(path);
  let size = fstatSync(file).size;
  let [isOpen, isTold] = [true, false];
  const writer = createLogWriter((text) => {
    if (!isOpen) return;
    const bytes = Buffer.from(text);
    try {
      if (size > 0 && size + bytes.length > limitBytes) beginAnew();
      // Writes again until no byte is left. The write that fills the disk can take only a part, and reports no error.
      for (let at = 0; at < bytes.length; ) {
        const written = writeSync(file, bytes, at);
        [at, size] = [at + written, size + written];
      }
    } catch (error) {
      // Reports a failure once and continues, because a full disk must not end the product.
      if (!isTold) process.stderr.write(`${path} loses lines: ${(error as Error).message}\n`);
      isTold = true;
    }
  });

  function beginAnew(): void {
    // The file does not exist if the last try failed after the rename.
    if (existsSync(path)) renameSync(path, `${path}.1`);
    const next = open(path);
    closeSync(file);
    [file, size] = [next, 0];
  }

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

function open(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw stackErrorFromFile(error, path);
  }
}
