import { PLANTED } from "./bugs.ts";
import { plant } from "./plant.ts";

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
const isPlanted = plant(bug);

const { drawScenario } = await import("../scenario.ts");
const { simulate } = await import("../simulate.ts");
const { loadPrevious, THIS_VERSION } = await import("../version.ts");
const versions = [THIS_VERSION, ...(bug.besideOther ? [await loadPrevious()] : [])];
if (!isPlanted()) throw new Error(`the simulation does not load ${bug.file}`);

async function tryBug(): Promise<Tried> {
  // The runs before would take minutes, and are known to catch nothing.
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
