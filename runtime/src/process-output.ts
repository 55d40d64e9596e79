import { createLog } from "./log.ts";

/** The most bytes that wait for a reader, for example while a log driver hangs. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Returns a function that writes to stdout or stderr. A reader that hangs must not fill the memory, so texts are
 * dropped while too many bytes wait. A log line before the next text tells how many. A full disk or a closed pipe must
 * not end the process.
 */
export function openOutput(stream: NodeJS.WriteStream): (text: string | Uint8Array) => void {
  let lost = 0;
  stream.on("error", () => undefined);
  const log = createLog((line) => void stream.write(line));
  return (text) => {
    if (stream.writableLength > MAX_WAITING_BYTES) {
      lost += 1;
      return;
    }
    if (lost > 0) log.warn("output was lost, because nobody read it", { texts: lost });
    lost = 0;
    stream.write(text);
  };
}
