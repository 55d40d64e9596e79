import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PLANTED } from "./bugs.ts";
import type { Tried } from "./try-bug.ts";

const TRY_BUG = fileURLToPath(new URL("try-bug.ts", import.meta.url));
/** The time limit of a trial, because a bug can keep a process busy forever. No trial takes as long. */
const KILLED_AFTER_MS = 300_000;
const runFile = promisify(execFile);

/** Tries each bug with `part` in its name, and prints which rule caught it. Returns whether all were caught. */
export async function runPlanted(part: string): Promise<boolean> {
  const bugs = PLANTED.filter(({ name }) => name.includes(part));
  if (bugs.length === 0) throw new Error(`no planted bug has "${part}" in its name`);
  const left = bugs.map(({ name }) => name);
  let caught = 0;
  process.stdout.write("| Bug | Rule that caught it | Runs |\n| --- | --- | --- |\n");
  const tryOthers = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const { rule, runs } = await tryBug(name);
      if (rule !== undefined) caught += 1;
      process.stdout.write(`| ${name} | ${rule ?? "**none**"} | ${runs} |\n`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, tryOthers));
  process.stdout.write(`\n${caught} of ${bugs.length} planted bugs were caught\n`);
  return caught === bugs.length;
}

/** Tries a bug in its own process, because a loaded file stays loaded. */
async function tryBug(name: string): Promise<Tried> {
  const { stdout, stderr } = await runFile(process.execPath, [TRY_BUG, name], {
    timeout: KILLED_AFTER_MS,
  });
  process.stderr.write(stderr);
  return JSON.parse(stdout);
}
