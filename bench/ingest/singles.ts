import { newRun, startContributions } from "../load/contributions.ts";
import { makeAccounts } from "../load/targets.ts";
import { countEach } from "../measure/figures.ts";
import { cpuOf } from "../measure/process-usage.ts";
import type { Watch } from "../measure/watch.ts";
import { clientsOf } from "../product/start-product.ts";
import { atLeast, type Goal } from "../report/goal.ts";
import { medianOf, type Place, type Run, ratioOf } from "../report/runs.ts";
import { grouped, table } from "../report/table.ts";
import type { Bench } from "../run/bench.ts";
import { keptSide, measureRounds, takeTurns } from "../run/rounds.ts";
import { startCore } from "../sides/programs.ts";
import { startWorker } from "../stack/jobs.ts";
import type { BenchStore } from "../stack/servers.ts";
import type { ByHandJobs } from "./by-hand-worker.ts";

/** How much a run writes by single contributions. */
export type SinglesSettings = {
  readonly rounds: number;
  readonly warmUpSeconds: number;
  /** How long each side writes in a round, to one account and to many. */
  readonly seconds: number;
  /** Accounts of what is written to many. */
  readonly accounts: number;
};

const WRITERS = 64;
const TABLES = ["donation", "subscription", "activity"];
const ROWS = `SELECT ${TABLES.map((name) => `(SELECT COUNT(*) FROM ${name})`).join(" + ")}`;
const SIDES = ["product", "by hand"];
const LOADS = ["one", "many"] as const;
const PER_SECOND = 1_800;
const TIMES_BY_HAND = 1.5;

/** Gives the product and the program by hand their turns, round after round. */
export async function measureSingles(
  bench: Bench<SinglesSettings>,
  store: BenchStore,
  watch: Watch,
): Promise<Run[]> {
  const { rounds, seconds, warmUpSeconds, accounts } = bench.settings;
  const core = await startCore(bench, "ingest-core", store.env);
  const calls = startContributions(bench);
  const file = new URL("./by-hand-worker.ts", import.meta.url);
  const byHand = startWorker<ByHandJobs>(bench, file);
  const clients = clientsOf(core.port, store);
  const accountIds = {
    one: await makeAccounts(clients, "bench_one", 1),
    many: await makeAccounts(clients, "bench", accounts),
  };
  const sides = [
    keptSide("product", { writer: core.pid, database: store.pid }, { write: calls.jobs.write }),
    keptSide("by hand", { writer: byHand.pid, database: store.pid }, { write: byHand.jobs.write }),
  ];
  const turns = (seconds: number, loads: readonly (keyof typeof accountIds)[] = LOADS) =>
    sides.flatMap((side) =>
      loads.map((load) => ({
        ...{ side, load },
        async run() {
          const { port } = core;
          const { credential, databaseUrl } = store;
          const job = { run: newRun(), accountIds: accountIds[load], workers: WRITERS, seconds };
          const before = await watch.number(ROWS);
          const figures = await countEach([cpuOf(side.pids), watch.statements], async () => {
            const { count, perSecond, p50Ms, p99Ms } = await side.write({
              ...{ ...job, port, credential, databaseUrl },
            });
            return { count, perSecond, p50Ms, p99Ms };
          });
          const written = (await watch.number(ROWS)) - before;
          if (written === figures.count * TABLES.length) return figures;
          throw new Error(`${side.name} wrote ${written} rows in ${figures.count} contributions`);
        },
      })),
    );
  await takeTurns(bench, "Warming up", turns(warmUpSeconds, ["many"]));
  const runs = await measureRounds(bench, rounds, () => turns(seconds));
  await core.stop();
  return runs;
}

/** Writes what was measured as a table. */
export function singlesTable(runs: readonly Run[], settings: SinglesSettings): string[] {
  const places = LOADS.flatMap((load) => SIDES.map((side) => ({ side, load })));
  const of = (figure: string) => (place: Place) => medianOf(runs, place, figure);
  return table(places, [
    ["single contributions", ({ side, load }) => `${side}, ${toWhom(load, settings)}`],
    ["a second", of("perSecond"), 0],
    ["× by hand", (place) => timesByHand(runs, place), 2],
    ["p50 ms", of("p50Ms"), 1],
    ["p99 ms", of("p99Ms"), 1],
    ["CPU ms each", of("cpu writer"), 2],
    ["database's", of("cpu database"), 2],
    ["statements", of("statements"), 1],
    ["commits", of("commits"), 2],
  ]);
}

/** Returns the goals of single contributions, beside what was measured. */
export function singlesGoals(runs: readonly Run[], settings: SinglesSettings): Goal[] {
  return LOADS.flatMap((load) => {
    const label = `contributions, ${toWhom(load, settings)}`;
    const place = { side: "product", load };
    return [
      atLeast(label, PER_SECOND, medianOf(runs, place, "perSecond"), "/s"),
      atLeast(`${label}: against by hand`, TIMES_BY_HAND, timesByHand(runs, place), "×"),
    ];
  });
}

function timesByHand(runs: readonly Run[], place: Place): number {
  return ratioOf(runs, place, { ...place, side: "by hand" });
}

function toWhom(load: string, { accounts }: SinglesSettings): string {
  return load === "one" ? "1 account" : `${grouped(accounts)} accounts`;
}
