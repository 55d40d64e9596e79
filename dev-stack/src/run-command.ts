import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What a finished program left. */
export interface CommandOutcome {
  /** `undefined` when a signal ended the program or it could not be started at all. */
  status: number | undefined;
  /** Standard output and standard error, line by line as they came. */
  lines: string[];
}

export interface CommandOptions {
  /** Environment variables beside those of this process. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** Fed to the program's standard input. */
  input?: string | undefined;
  /** Receives each line at once. */
  onLine?: ((line: string) => void) | undefined;
  /** Kills the program when it has said nothing for this time; without limit unless told. */
  silenceMilliseconds?: number | undefined;
}

/** Runs a program to its end and collects what it said; never throws. */
export function runCommand(
  command: string,
  args: readonly string[],
  { variables, input = "", onLine, silenceMilliseconds }: CommandOptions = {},
): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    const lines: string[] = [];
    const hear = (line: string) => {
      if (silence) silence.refresh();
      onLine?.(line);
      lines.push(line);
    };
    const child = spawn(command, args, { env: { ...process.env, ...variables } });
    const giveUp = () => {
      hear(`it said nothing for ${(silenceMilliseconds ?? 0) / 1000} s`);
      child.kill("SIGKILL");
    };
    const silence = silenceMilliseconds && setTimeout(giveUp, silenceMilliseconds);
    const end = (status: number | undefined) => {
      if (silence) clearTimeout(silence);
      resolve({ status, lines });
    };
    child.once("error", ({ message }) => {
      hear(message);
      end(undefined);
    });
    child.once("close", (status) => end(status ?? undefined));
    for (const output of [child.stdout, child.stderr]) {
      createInterface({ input: output }).on("line", hear);
    }
    // A program that ends before it has read everything says why in its output.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}
