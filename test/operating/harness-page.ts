import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "../architecture/import-rule.ts";

/** Commands of a page and the output that the page shows. */
export type PageBlock = {
  readonly title: string;
  readonly commands: string;
  /** `undefined` if the page shows no output. */
  readonly shown: string | undefined;
};

/** A shell that keeps what earlier blocks set or started. */
export type Shell = {
  /** Runs commands. Returns the output of both streams. Throws if a command fails or does not end. */
  run(commands: string): Promise<string>;
  /** Ends the shell and everything it started. */
  close(): Promise<void>;
};

/** The limit for one block. */
const BLOCK_WITHIN_MS = 180_000;
const END_WITHIN_MS = 20_000;
const BLOCK = /^```sh\n(?<commands>.*?)^```\n(?:\n```text\n(?<shown>.*?)^```\n)?/gms;

/** Reads the `sh` blocks of a page in order, each with a `text` block that directly follows. */
export function readBlocks(path: string): PageBlock[] {
  const page = readFileSync(join(ROOT, path), "utf8");
  return [...page.matchAll(BLOCK)].map(({ index, groups }) => {
    const before = page.slice(0, index);
    const title = [...before.matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? path;
    return { title, commands: groups?.commands ?? "", shown: groups?.shown };
  });
}

/** Tells whether an output matches a page's: `…` matches any text in a line, or any lines if it is alone. */
export function isShown(output: string, shown: string): boolean {
  const lines = shown.trimEnd().split("\n");
  const pattern = lines
    .map((line) => (line === "…" ? "[^]*" : escaped(line).replaceAll("…", ".*")))
    .join("\n");
  return new RegExp(`^${pattern}$`).test(output.trimEnd());
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Starts a bash in the project's folder. It ends at the first failed command. */
export function startShell(env: Readonly<Record<string, string | undefined>>): Shell {
  const child = spawn("bash", ["--norc"], {
    ...{ cwd: ROOT, env, stdio: ["pipe", "pipe", "inherit"] },
    // In its own process group, so that everything it starts belongs to that group.
    detached: true,
  });
  let output = "";
  let onOutput = () => {};
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk;
    onOutput();
  });
  child.on("exit", () => onOutput());
  child.stdin.write("set -e -o pipefail; exec 2>&1\n");
  let count = 0;
  return {
    run(commands) {
      const end = `end of block ${++count}\n`;
      child.stdin.write(`${commands}\necho "${end.trimEnd()}"\n`);
      return new Promise((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${why}:\n${commands}\n${output}`));
        const timer = setTimeout(() => fail("These commands do not end"), BLOCK_WITHIN_MS);
        onOutput = () => {
          if (output.endsWith(end)) {
            resolve(output.slice(0, -end.length));
            output = "";
          } else if (child.exitCode !== null) fail(`The shell ended with ${child.exitCode}`);
          else return;
          clearTimeout(timer);
        };
      });
    },
    async close() {
      const group = -(child.pid ?? 0);
      child.stdin.end();
      for (const giveUpAt = performance.now() + END_WITHIN_MS; isThere(group); await wait(50)) {
        process.kill(group, performance.now() < giveUpAt ? "SIGTERM" : "SIGKILL");
      }
    },
  };
}

/** Tells whether a process exists, or a group by its negative id. */
function isThere(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}
