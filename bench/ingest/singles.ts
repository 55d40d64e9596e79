import { newRun, startContributions } from "../load/contributions.ts";
import { makeAccounts } from "../load/targets.ts";
import { countEach } from "../measure/figures.ts";
import { cpuOf } from "../measure/process-usage.ts";
import { startWatch } from "../measure/watch.ts";
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

/** In each round, each side writes for some seconds to one account, then to many. */
type Settings = Readonly<Record<"rounds" | "warmUpSeconds" | "seconds" | "accounts", number>>;

const WRITERS = 64;
const TABLES = ["donation", "subscription", "activity"];
const ROWS = `SELECT ${TABLES.map((name) => `(SELECT COUNT(*) FROM ${name})`).join(" + ")}`;
const LOADS = ["one", "many"] as const;
const [PER_SECOND, TIMES_BY_HAND] = [1_800, 1.5];

/** Measures the product and the hand-written program in turn, round by round. */
export async function measureSingles(bench: Bench<Settings>, store: BenchStore): Promise<Run[]> {
  const { rounds, seconds, warmUpSeconds, accounts } = bench.settings;
  const { credential, databaseUrl, pid: database } = store;
  const watch = startWatch(bench, databaseUrl);
  const core = await startCore(bench, "ingest-core", store.env);
  const calls = startContributions(bench);
  const file = new URL("./by-hand-worker.ts", import.meta.url);
  const byHand = startWorker<ByHandJobs>(bench, file);
  const clients = clientsOf(core.port, store);
  const one = await makeAccounts(clients, "bench_one", 1);
  const accountIds = { one, many: await makeAccounts(clients, "bench", accounts) };
  const sides = [
    keptSide("product", { writer: core.pid, database }, { write: calls.jobs.write }),
    keptSide("by hand", { writer: byHand.pid, database }, { write: byHand.jobs.write }),
  ];
  const measure = async (side: (typeof sides)[number], load: "one" | "many", seconds: number) => {
    const job = { run: newRun(), accountIds: accountIds[load], workers: WRITERS, seconds };
    const before = await watch.number(ROWS);
    const figures = await countEach([cpuOf(side.pids), watch.statements], async () => {
      const written = await side.write({ ...job, port: core.port, credential, databaseUrl });
      const { count, perSecond, p50Ms, p99Ms } = written;
      return { count, perSecond, p50Ms, p99Ms };
    });
    const written = (await watch.number(ROWS)) - before;
    if (written === figures.count * TABLES.length) return figures;
    throw new Error(`${side.name} wrote ${written} rows in ${figures.count} contributions`);
  };
  const turns = (seconds: number, loads: readonly ("one" | "many")[]) =>
    sides.flatMap((side) =>
      loads.map((load) => ({ side, load, run: () => measure(side, load, seconds) })),
    );
  await takeTurns(bench, "Warming up", turns(warmUpSeconds, ["many"]));
  const runs = await measureRounds(bench, rounds, () => turns(seconds, LOADS));
  await core.stop();
  return runs;
}

/** Returns the table of single contributions. */
export function singlesTable(runs: readonly Run[], settings: Settings): string[] {
  const places = LOADS.flatMap((load) => ["product", "by hand"].map((side) => ({ side, load })));
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

/** Returns the goals of single contributions, with the measured values. */
export function singlesGoals(runs: readonly Run[], settings: Settings): Goal[] {
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

function toWhom(load: string, { accounts }: Settings): string {
  return load === "one" ? "1 account" : `${grouped(accounts)} accounts`;
}
