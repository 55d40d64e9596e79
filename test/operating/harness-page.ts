import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "../architecture/import-rule.ts";
import { watch } from "../start/harness-program.ts";

/** Commands of a page, and the output that the page shows: empty if it shows none. */
type PageBlock = { readonly title: string; readonly commands: string; readonly shown: string };

/** The time limit of a page's commands, which take a minute and a half. */
const PAGE_WITHIN_MS = 420_000;
const END_WITHIN_MS = 20_000;
const BLOCK = /^```sh\n(?<commands>.*?)^```\n(?:\n```text\n(?<shown>.*?)^```\n)?/gms;

/** Reads the `sh` blocks of a page in order, each with a `text` block that directly follows. */
export function readBlocks(page: string): PageBlock[] {
  return [...page.matchAll(BLOCK)].map(({ index, groups: { commands = "", shown = "" } = {} }) => {
    const before = page.slice(0, index);
    const title = [...before.matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? "";
    return { title, commands, shown };
  });
}

/** Tells whether an output matches the page's. There `…` matches any text in a line; alone in a line, any lines. */
export function isShown(output: string, shown: string): boolean {
  const lines = shown.trimEnd().split("\n");
  const pattern = lines
    .map((line) => (line === "…" ? "[^]*" : escaped(line).replaceAll("…", ".*")))
    .join("\n");
  return new RegExp(`^${pattern}$`).test(output.trimEnd());
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Runs blocks in one bash in the project's folder. It ends at the first failed command. */
export function runBlocks(blocks: readonly PageBlock[], env: NodeJS.ProcessEnv) {
  const END = "end of block";
  const script = blocks.map(({ commands }) => `${commands}\necho "${END}"\n`).join("");
  const child = spawn("bash", ["--norc", "-ec", `set -o pipefail; exec 2>&1\n${script}`], {
    ...{ cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] },
    // Starts bash in its own process group, to which everything belongs that bash starts.
    detached: true,
  });
  const group = -(child.pid ?? 0);
  // Kills a block that does not end, so that the outputs stop there.
  const timer = setTimeout(() => process.kill(group, "SIGKILL"), PAGE_WITHIN_MS);
  const { closed, output } = watch(child);
  return {
    /**
     * Resolves with the output of each block, from both streams. The last element is the output of an unfinished block.
     */
    outputs: closed.then(() => {
      clearTimeout(timer);
      return output().split(`${END}\n`);
    }),
    /** Ends the bash and everything it started. */
    async stop() {
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
