/** Shows the progress of an import. */
export type ImportProgress = {
  /** Takes the bytes read and the rows done so far. */
  update(bytesRead: number, rows: number): void;
  /** Removes the bar. */
  end(): void;
};

/** Where the progress is written. */
export type ProgressStream = {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
};

const BAR_WIDTH = 24;
const REDRAW_MS = 200;
/** The interval between lines where no terminal can redraw a bar. */
const LINE_MS = 10_000;
const CLEAR_LINE = "\r\u001b[2K";

/** Creates a progress display: a bar on a terminal, otherwise a plain line from time to time. */
export function createImportProgress(
  stream: ProgressStream,
  sizeBytes: number,
  nowMs: () => number,
): ImportProgress {
  const startedMs = nowMs();
  const pauseMs = stream.isTTY ? REDRAW_MS : LINE_MS;
  let shownMs = startedMs;

  function text(bytesRead: number, rows: number): string {
    const share = Math.min(1, bytesRead / Math.max(1, sizeBytes));
    const rate = rows / Math.max(0.001, (nowMs() - startedMs) / 1000);
    const figures = `${Math.floor(share * 100)} %, ${thousands(rows)} rows, ${thousands(rate)} rows/s`;
    return stream.isTTY ? `${bar(share)} ${figures}` : figures;
  }

  return {
    update(bytesRead, rows) {
      if (nowMs() - shownMs < pauseMs) return;
      shownMs = nowMs();
      const line = text(bytesRead, rows);
      if (!stream.isTTY) stream.write(`${line}\n`);
      else stream.write(CLEAR_LINE + line.slice(0, Math.max(20, (stream.columns ?? 80) - 1)));
    },
    end() {
      if (stream.isTTY) stream.write(CLEAR_LINE);
    },
  };
}

/** Formats a number with separated thousands. */
export function thousands(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function bar(share: number): string {
  const filled = Math.round(share * BAR_WIDTH);
  return `[${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)}]`;
}
