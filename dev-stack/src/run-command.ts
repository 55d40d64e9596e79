import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** The result of a program. */
export interface CommandOutcome {
  /** `undefined` if a signal ended the program or it could not be started. */
  status: number | undefined;
  /** The lines of both streams, in their order. */
  lines: string[];
}

export interface CommandOptions {
  /** Environment variables in addition to this process's. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** The program's standard input. */
  input?: string | undefined;
  /** Receives each line at once. */
  onLine?: ((line: string) => void) | undefined;
  /** Kills the program if it prints nothing for this long. No limit by default. */
  silenceMilliseconds?: number | undefined;
}

/** Runs a program to its end and collects its output. Never throws. */
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
    // Ignores the error of a program that ends before it has read its input. Its output explains that end.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}
