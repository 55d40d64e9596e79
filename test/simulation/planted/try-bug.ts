import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { PLANTED } from "./bugs.ts";

// node try-bug.ts NAME   runs scenarios with the bug of this name until a rule is broken, and prints what came of it

const ROOT = new URL("../../../", import.meta.url);
const MAX_RUNS = 2_000;
const MAX_MS = 60_000;

/** What came of a planted bug. */
export type Tried = {
  /** The rule that caught it, if any did. */
  readonly rule: string | undefined;
  readonly runs: number;
};

const bug = PLANTED.find(({ name }) => name === process.argv[2]);
if (bug === undefined) throw new Error(`there is no bug ${process.argv[2]}`);
const { file, find, replace } = bug;
const { href } = new URL(file, ROOT);
const parts = readFileSync(new URL(href), "utf8").split(find);
if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
let isPlanted = false;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== href) return loaded;
    isPlanted = true;
    return { ...loaded, source: parts.join(replace) };
  },
});

const { drawScenario } = await import("../scenario.ts");
const { simulate } = await import("../simulate.ts");
if (!isPlanted) throw new Error(`the simulation does not load ${file}`);

async function tryBug(): Promise<Tried> {
  let runs = 0;
  while (runs < MAX_RUNS && performance.now() < MAX_MS) {
    runs += 1;
    const { violation } = await simulate(drawScenario(runs));
    if (violation !== undefined) return { rule: violation.rule, runs };
  }
  return { rule: undefined, runs };
}

process.stdout.write(JSON.stringify(await tryBug()));
