import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { PLANTED, type PlantedBug } from "./bugs.ts";
import type { Tried } from "./try-bug.ts";

const TRY_BUG = fileURLToPath(new URL("try-bug.ts", import.meta.url));
/** Longer than a trial takes. A bug can keep a process busy forever. */
const KILLED_AFTER_MS = 300_000;

/** Tries each bug with `part` in its name, and prints which rule caught it. Returns whether all were caught. */
export function runPlanted(part: string): boolean {
  const bugs = PLANTED.filter(({ name }) => name.includes(part));
  if (bugs.length === 0) throw new Error(`no planted bug has "${part}" in its name`);
  let caught = 0;
  process.stdout.write("| Bug | Rule that caught it | Runs |\n| --- | --- | --- |\n");
  for (const bug of bugs) {
    const { rule, runs } = tryBug(bug);
    if (rule !== undefined) caught += 1;
    process.stdout.write(`| ${bug.name} | ${rule ?? "**none**"} | ${runs} |\n`);
  }
  process.stdout.write(`\n${caught} of ${bugs.length} planted bugs were caught\n`);
  return caught === bugs.length;
}

/** Tries a bug in its own process, because a loaded file stays loaded. */
function tryBug({ name }: PlantedBug): Tried {
  const child = spawnSync(process.execPath, [TRY_BUG, name], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: KILLED_AFTER_MS,
  });
  if (child.status !== 0) throw new Error(`"${name}" could not be tried: ${child.signal}`);
  return JSON.parse(child.stdout) as Tried;
}
