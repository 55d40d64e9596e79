import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { PLANTED, type PlantedBug } from "./bugs.ts";

// node try-bug.ts NAME   runs scenarios with this bug until one breaks a rule, and prints the result

const MAX_RUNS = 2_500;
const MAX_MS = 240_000;

/** The result of a trial. */
export type Tried = {
  /** The rule that caught the bug, if any did. */
  readonly rule: string | undefined;
  readonly runs: number;
};

const bug = PLANTED.find(({ name }) => name === process.argv[2]);
if (bug === undefined) throw new Error(`there is no bug ${process.argv[2]}`);
const places = [bug, ...(bug.also ? [bug.also] : [])].map(plant);

const { drawScenario } = await import("../scenario.ts");
const { simulate } = await import("../simulate.ts");
const { loadPrevious, THIS_VERSION } = await import("../version.ts");
const versions = [THIS_VERSION, ...(bug.besideOther ? [await loadPrevious()] : [])];
if (!places.every((isPlanted) => isPlanted())) {
  throw new Error(`the simulation does not load the files of "${bug.name}"`);
}

/** Plants a bug in its file when this process loads it. Returns a function that tells whether it was loaded. */
function plant({ file, find, replace }: Omit<PlantedBug, "name">): () => boolean {
  const { href } = new URL(`../../../${file}`, import.meta.url);
  const source = readFileSync(new URL(href), "utf8").replace(find, () => replace);
  let isPlanted = false;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (url !== href) return loaded;
      isPlanted = true;
      return { ...loaded, source };
    },
  });
  return () => isPlanted;
}

async function tryBug(): Promise<Tried> {
  // Skips the earlier seeds: they would take minutes, and are known to catch nothing.
  const before = (bug?.from ?? 1) - 1;
  let runs = before;
  while (runs - before < MAX_RUNS && performance.now() < MAX_MS) {
    runs += 1;
    const { violation } = await simulate(drawScenario(runs, versions));
    if (violation !== undefined) return { rule: violation.rule, runs: runs - before };
  }
  return { rule: undefined, runs: runs - before };
}

process.stdout.write(JSON.stringify(await tryBug()));
