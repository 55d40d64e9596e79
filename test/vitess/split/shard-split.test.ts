import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectOwnLogsOnly } from "../../delivery/crash/harness-search.ts";
import { serverVictim } from "../../delivery/crash/harness-servers.ts";
import { type CrashStack, SETTLE_MS, startCrashStack } from "../../delivery/crash/harness-stack.ts";
import { connectTo, openTestDatabase } from "../../harness/database.ts";
import {
  expectOnlyUnavailable,
  expectWrittenAndTold,
  type LoadedRun,
  runUnderLoad,
} from "./harness-load.ts";
import { splitSteps } from "./harness-reshard.ts";
import { startVitessCluster, type VitessCluster } from "./harness-vitess-cluster.ts";

const MINUTE_MS = 60_000;
const SETTLING_MS = SETTLE_MS + MINUTE_MS;
const [SHARDS_BEFORE, SHARDS_AFTER] = [2, 4];
/** The time limit of the start. The first build of Vitess and the download of MySQL take minutes. */
const START_MS = 30 * MINUTE_MS;
/** The time between a kill and the restart. */
const AWAY_MS = 3_000;

let stack: CrashStack;
let cluster: VitessCluster;
beforeAll(async () => {
  stack = await startCrashStack((dataDir) =>
    serverVictim(async (progress) => {
      const options = { env: process.env, dataDir, progress, shards: SHARDS_BEFORE };
      cluster = await startVitessCluster(options);
      return { address: cluster.url, ended: undefined, kill: cluster.stop };
    }),
  );
  await stack.dispatcher("dispatcher").start();
}, START_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack?.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

describe(`ADR 0048: a split of ${SHARDS_BEFORE} shards into ${SHARDS_AFTER} under load`, () => {
  let split: LoadedRun | undefined;

  it(
    "with Vitess's own Reshard: it copies, compares, switches and completes",
    async () => {
      split = await runUnderLoad(stack, splitSteps(cluster, SHARDS_AFTER));
      expect(activityShards().map(({ name }) => name)).toEqual(["-40", "40-80", "80-c0", "c0-"]);
    },
    20 * MINUTE_MS,
  );

  it(
    "stores each acknowledged write once, and delivers every event with one attempt",
    () => expectWrittenAndTold(stack, outcome(split)),
    SETTLING_MS,
  );

  it("asks callers to retry each call that it cannot answer, and logs no unknown failure", async () => {
    expectOnlyUnavailable(outcome(split));
    await expectOwnLogsOnly(stack);
  });

  it("spreads all accounts over all new shards", async () => {
    const database = openCluster();
    try {
      const sql = "SELECT COUNT(*) AS accounts FROM account";
      const counts = (await database.queryShards<{ accounts: number }>(sql)).map(
        ({ accounts }) => accounts,
      );
      expect(counts).toHaveLength(SHARDS_AFTER);
      expect(Math.min(...counts)).toBeGreaterThan(0);
      const [all] = await database.query<{ accounts: number }>(sql);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(Number(all?.accounts));
    } finally {
      await database.drop();
    }
  });
});

it.each([
  { what: "a vttablet", victim: () => activityShards()[0]?.tablet },
  { what: "the vtgate", victim: () => cluster.vtgate },
])(
  "ADR 0048: the product loses nothing under the same load when we kill $what",
  async ({ what, victim }) => {
    const host = victim();
    if (host === undefined) throw new Error(`${what} is not there`);
    const run = await runUnderLoad(stack, [host.kill, () => wait(AWAY_MS), host.start]);
    await expectWrittenAndTold(stack, run);
    expectOnlyUnavailable(run);
    await expectOwnLogsOnly(stack);
  },
  5 * MINUTE_MS + SETTLING_MS,
);

const activityShards = () => cluster.shards().filter(({ keyspace }) => keyspace === "activity");

function openCluster() {
  const shards = activityShards().map(({ mysql }) => mysql.url);
  const { url } = cluster;
  const close = () => Promise.resolve();
  return openTestDatabase(connectTo(shards[0] ?? ""), { url, databases: [], shards, close });
}

function outcome(run: LoadedRun | undefined): LoadedRun {
  if (run === undefined) throw new Error("the load did not get through");
  return run;
}
