import { randomBytes } from "node:crypto";
import type { Progress } from "../../../dev-stack/src/progress.ts";
import type { Sample } from "../../measure/sample.ts";
import type { Usage } from "../../measure/watch.ts";
import type { CoreProcess } from "../../stack/core-process.ts";
import { type IngestStack, prepareAccounts } from "../ingest-stack.ts";
import type { Settings } from "../settings.ts";

/** Who writes single contributions. */
export const SideName = { Product: "product", ByHand: "by-hand" } as const;
export type SideName = (typeof SideName)[keyof typeof SideName];

/** To whom. */
export const SpreadName = { One: "one", Many: "many" } as const;
export type SpreadName = (typeof SpreadName)[keyof typeof SpreadName];

/** What the processor is used by: the core, or the program that does without it, and the database. */
export const ProcessName = { Writer: "writer", Database: "database" } as const;
export type ProcessName = (typeof ProcessName)[keyof typeof ProcessName];

/** One measurement of one side. */
export type SingleRun = {
  readonly count: number;
  readonly perSecond: number;
  /** Of a call, or of a transaction with the wait for its connection. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly usage: Usage<ProcessName>;
};

/** One round, by who wrote and to whom. */
export type SingleRound = Readonly<Record<SideName, Readonly<Record<SpreadName, SingleRun>>>>;

/** As many as the core's pool has. */
const CONNECTIONS = 10;
const WRITERS = 64;
const TABLES = ["donation", "subscription", "activity"];
const ROWS = `SELECT ${TABLES.map((table) => `(SELECT COUNT(*) FROM ${table})`).join(" + ")}`;

/** Gives the product and the program by hand their turns, round after round. */
export async function measureSingles(
  stack: IngestStack,
  settings: Settings,
  progress: Progress,
): Promise<SingleRound[]> {
  const core = await stack.startCore();
  const accountIds = await progress.step("Making the accounts", async () => ({
    one: await prepareAccounts(stack, core, "bench_one", 1),
    many: await prepareAccounts(stack, core, "bench", settings.accounts),
  }));
  const measure = (side: SideName, spread: SpreadName, seconds: number) =>
    measureSide(stack, core, side, { accountIds: accountIds[spread], seconds });
  for (const side of Object.values(SideName)) {
    const warmUp = () => measure(side, SpreadName.Many, settings.warmUpSeconds);
    await progress.step(`Warming up: ${side}`, warmUp);
  }
  const rounds: SingleRound[] = [];
  for (let round = 1; round <= settings.rounds; round++) {
    const step = (side: SideName, spread: SpreadName) =>
      progress.step(`Round ${round} of ${settings.rounds}: ${side}, ${spread}`, () =>
        measure(side, spread, settings.seconds),
      );
    const both = async (side: SideName) => ({
      one: await step(side, SpreadName.One),
      many: await step(side, SpreadName.Many),
    });
    rounds.push({ product: await both("product"), "by-hand": await both("by-hand") });
  }
  await core.stop();
  return rounds;
}

async function measureSide(
  { store, watch, load, byHand }: IngestStack,
  core: CoreProcess,
  side: SideName,
  { accountIds, seconds }: { readonly accountIds: readonly string[]; readonly seconds: number },
): Promise<SingleRun> {
  const { credential, databaseUrl, databasePid } = store;
  const writes = { run: randomBytes(6).toString("hex"), accountIds, writers: WRITERS, seconds };
  const run = (): Promise<Sample> =>
    side === SideName.Product
      ? load.run({ ...writes, port: core.port, credential, perSecond: undefined })
      : byHand.run({ ...writes, databaseUrl, connections: CONNECTIONS });
  const pids = {
    [ProcessName.Writer]: side === SideName.Product ? core.pid : byHand.pid,
    [ProcessName.Database]: databasePid,
  };
  const before = await watch.number(ROWS);
  const { result, usage } = await watch.during(pids, run);
  const { requests, p50Ms, p99Ms } = result;
  const written = (await watch.number(ROWS)) - before;
  if (written !== requests * TABLES.length) {
    throw new Error(`${side} wrote ${written} rows in ${requests} contributions`);
  }
  return { count: requests, perSecond: requests / result.seconds, p50Ms, p99Ms, usage };
}
