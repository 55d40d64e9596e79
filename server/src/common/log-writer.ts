/** Takes log lines. `flush` writes the waiting lines at once. */
export type LogWriter = { write(line: string): void; flush(): void };

const FLUSH_MS = 100;
const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Gathers lines, and writes them together ten times a second or when many wait. This saves a system call per line.
 * Waiting lines are lost if the process is killed.
 */
export function createLogWriter(writeText: (text: string) => void): LogWriter {
  let lines: string[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const text = lines.join("");
    lines = [];
    characters = 0;
    if (text !== "") writeText(text);
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
