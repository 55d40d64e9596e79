/** Shows a detail of the running step, such as `40 %`. */
export type ReportDetail = (detail: string) => void;

/** Shows a person the running step. */
export interface Progress {
  /** Runs a step under a label such as "Fetching MariaDB". Returns its result. */
  step<T>(label: string, run: (report: ReportDetail) => Promise<T>): Promise<T>;
}

const REDRAW_MILLISECONDS = 200;
/** A shorter step leaves no line. */
const QUIET_MILLISECONDS = 700;
const CLEAR_LINE = "\r\u001b[2K";

/** Shows nothing, for tests. */
export const silentProgress: Progress = { step: (_label, run) => run(() => undefined) };

/** Creates a progress display: one updating line on a terminal, otherwise plain lines. */
export function createProgress(): Progress {
  const stream = process.stderr;
  return {
    async step(label, run) {
      const startedAt = performance.now();
      let detail = "";
      const draw = () => {
        const line = `${label} … ${secondsSince(startedAt)}${detail && `, ${detail}`}`;
        stream.write(CLEAR_LINE + line.slice(0, Math.max(20, (stream.columns || 80) - 1)));
      };
      const timer = stream.isTTY
        ? setInterval(draw, REDRAW_MILLISECONDS)
        : setTimeout(() => stream.write(`${label} …\n`), QUIET_MILLISECONDS);
      timer.unref();
      const end = (how: string) => {
        clearInterval(timer);
        if (stream.isTTY) stream.write(CLEAR_LINE);
        if (performance.now() - startedAt < QUIET_MILLISECONDS) return;
        stream.write(`${label}: ${how}${secondsSince(startedAt)}\n`);
      };
      const report = (text: string) => {
        detail = text;
      };
      try {
        const outcome = await run(report);
        end("");
        return outcome;
      } catch (error) {
        end("failed after ");
        throw error;
      }
    },
  };
}

function secondsSince(startedAt: number): string {
  const milliseconds = performance.now() - startedAt;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}
