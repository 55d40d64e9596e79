/** Takes log lines; `flush` writes what is waiting at once. */
export type LogWriter = { write(line: string): void; flush(): void };

const FLUSH_MS = 100;
const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Gathers lines and gives them to `writeText` together, ten times a second or when many wait: a line a call
 * would otherwise cost a system call each. What waits is lost when the process is killed.
 */
export function createLogWriter(writeText: (text: string) => void): LogWriter {
  let lines: string[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length > 0) writeText(lines.join(""));
    lines = [];
    characters = 0;
  }
  return {
    write(line) {
      lines.push(line);
      characters += line.length;
      if (characters >= FLUSH_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}
