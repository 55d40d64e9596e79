/** Shows what a long step is doing right now, for example `40 %`. */
export type ReportDetail = (detail: string) => void;

/** Where long steps show themselves. */
export interface Progress {
  /** Runs one step under `label`, a phrase such as "Fetching MariaDB", and returns its outcome. */
  step<T>(label: string, run: (report: ReportDetail) => Promise<T>): Promise<T>;
}

const REDRAW_MILLISECONDS = 200;
/** Steps shorter than this leave no trace: nobody waited for them. */
const QUIET_MILLISECONDS = 700;

/** Shows nothing: for tests. */
export const silentProgress: Progress = { step: (_label, run) => run(() => undefined) };

/** Creates a progress display: one updating line on a terminal, plain lines anywhere else. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const show = stream.isTTY ? showOnTerminal : showAsLines;
  return {
    async step(label, run) {
      const startedAt = performance.now();
      const elapsed = () => performance.now() - startedAt;
      const lastLine = (text: string) =>
        elapsed() < QUIET_MILLISECONDS ? "" : `${label}: ${text}${seconds(elapsed())}\n`;
      const display = show(stream, label, elapsed);
      try {
        const outcome = await run(display.report);
        display.end(lastLine(""));
        return outcome;
      } catch (error) {
        display.end(lastLine("failed after "));
        throw error;
      }
    },
  };
}

interface StepDisplay {
  report: ReportDetail;
  end(lastLine: string): void;
}

type ShowStep = (
  stream: NodeJS.WriteStream,
  label: string,
  elapsedMilliseconds: () => number,
) => StepDisplay;

const showOnTerminal: ShowStep = (stream, label, elapsedMilliseconds) => {
  let detail = "";
  const clearLine = "\r\u001b[2K";
  const draw = () => {
    const line = `${label} … ${seconds(elapsedMilliseconds())}${detail && `, ${detail}`}`;
    stream.write(clearLine + line.slice(0, Math.max(20, (stream.columns || 80) - 1)));
  };
  const timer = setInterval(draw, REDRAW_MILLISECONDS);
  timer.unref();
  return {
    report(text) {
      detail = text;
    },
    end(lastLine) {
      clearInterval(timer);
      stream.write(clearLine + lastLine);
    },
  };
};

const showAsLines: ShowStep = (stream, label) => {
  const timer = setTimeout(() => stream.write(`${label} …\n`), QUIET_MILLISECONDS);
  timer.unref();
  return {
    report() {},
    end(lastLine) {
      clearTimeout(timer);
      stream.write(lastLine);
    },
  };
};

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}
