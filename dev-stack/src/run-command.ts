import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** What a finished program left. */
export interface CommandOutcome {
  /** `undefined` when a signal ended the program or it could not be started at all. */
  status: number | undefined;
  /** Standard output and standard error, line by line as they came, the last part when it is long. */
  lines: string[];
}

export interface CommandOptions {
  /** Environment variables beside those of this process. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** Fed to the program's standard input. */
  input?: string | undefined;
  /** Receives each line the program writes to file descriptor 3. */
  onStatusLine?: ((line: string) => void) | undefined;
  /** How many of the last lines are kept; 400 unless told. */
  keptLines?: number | undefined;
  /** Kills the program when it has said nothing for this time; without limit unless told. */
  silenceMilliseconds?: number | undefined;
}

const KEPT_LINES = 400;

/** Runs a program to its end and collects what it said; never throws. */
export function runCommand(
  command: string,
  args: readonly string[],
  {
    variables,
    input,
    onStatusLine,
    keptLines = KEPT_LINES,
    silenceMilliseconds,
  }: CommandOptions = {},
): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    const lines: string[] = [];
    const keep = (line: string) => {
      lines.push(line);
      if (lines.length > keptLines) lines.shift();
    };
    const watch = createWatch(silenceMilliseconds, () => {
      keep(`it said nothing for ${(silenceMilliseconds ?? 0) / 1000} s`);
      child.kill("SIGKILL");
    });
    const child = spawn(command, args, {
      env: { ...process.env, ...variables },
      stdio: ["pipe", "pipe", "pipe", onStatusLine ? "pipe" : "ignore"],
    });
    child.once("error", (error) => {
      watch.end();
      keep(error.message);
      resolve({ status: undefined, lines });
    });
    child.once("close", (status) => {
      watch.end();
      resolve({ status: status ?? undefined, lines });
    });
    const hear = (onLine: (line: string) => void) => (line: string) => {
      watch.restart();
      onLine(line);
    };
    readLines(child.stdout, hear(keep));
    readLines(child.stderr, hear(keep));
    if (onStatusLine) readLines(child.stdio[3] as Readable, hear(onStatusLine)); // "pipe" above
    // A program that ends before it has read everything says why in its output.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input ?? "");
  });
}

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  if (stream) createInterface({ input: stream }).on("line", onLine);
}

function createWatch(milliseconds: number | undefined, onSilence: () => void) {
  const timer = milliseconds === undefined ? undefined : setTimeout(onSilence, milliseconds);
  return { restart: () => timer?.refresh(), end: () => clearTimeout(timer) };
}
