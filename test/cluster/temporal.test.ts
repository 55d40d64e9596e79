import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { requestsOf } from "../delivery/crash/harness-attempts.ts";
import { expectNothingLost } from "../delivery/crash/harness-outcome.ts";
import { expectNothingTold } from "../delivery/crash/harness-search.ts";
import { type ClusterVictim, clusterVictim } from "../delivery/crash/harness-servers.ts";
import { byShares } from "../delivery/crash/harness-shares.ts";
import { SIZE } from "../delivery/crash/harness-size.ts";
import { type CrashStack, startCrashStack } from "../delivery/crash/harness-stack.ts";
import { createParty, type Party } from "../delivery/crash/harness-writers.ts";
import { headerOf } from "../delivery/harness-deliveries.ts";
import { keepWriting, listRetries, type Retry } from "./harness-retries.ts";
import { startTemporalCluster, type TemporalCluster } from "./harness-temporal-cluster.ts";

const MINUTE_MS = 60_000;
const ACCOUNTS = 4;
/** Longer than the others of a cluster take to notice, which is some six seconds: they go on without it. */
const AWAY_MS = 15_000;
const ALIVE_MS = 10_000;
/** Building Temporal's server is a matter of minutes, once a machine. */
const START_MS = 20 * MINUTE_MS;

let stack: CrashStack;
let temporal: ClusterVictim<TemporalCluster>;
let party: Party;
beforeAll(async () => {
  stack = await startCrashStack({
    makeTemporal(dataDir) {
      const options = { env: process.env, dataDir, progress: createProgress() };
      temporal = clusterVictim(() => startTemporalCluster(options));
      return temporal;
    },
  });
  await stack.dispatcher("dispatcher").start();
  party = await createParty(stack, ACCOUNTS);
}, START_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

it(
  "each process of Temporal's cluster killed in turn under load: no event is lost, and no attempt made twice. ADR 0028",
  async () => {
    // Retries take one to two seconds: some are in flight at every kill.
    stack.receiver.behaviour = byShares({ failing: 0.5, slow: 1 });
    const stopWriting = keepWriting(stack, party);
    await expect.poll(countRetries, { timeout: 3 * MINUTE_MS }).toBeGreaterThan(0);
    const kills: { readonly service: string; readonly killedMs: number }[] = [];
    for (const host of temporal.cluster().hosts) {
      await wait(ALIVE_MS);
      kills.push({ service: host.service, killedMs: Date.now() });
      await host.kill();
      await wait(AWAY_MS);
      await host.start();
    }
    const events = await stopWriting();

    await expectNothingLost(stack, { party, events, workflows: "retries" });
    expect(kills).toHaveLength(8);
    const retries = await listRetries(stack);
    expect(retries).toHaveLength(countRetries());
    tell(events, kills, retries);
  },
  (8 + SIZE.settleMinutes) * MINUTE_MS,
);

it(
  "and no history, no log and no table of Temporal's holds a secret, a payload, a URL or a name",
  async () => {
    process.stderr.write(`searched: ${await expectNothingTold(stack, [party])}\n`);
  },
  5 * MINUTE_MS,
);

/** The retries that reached the receiver. */
function countRetries(): number {
  return requestsOf(stack, party).filter((request) => headerOf(request, "Service-Attempt") === "2")
    .length;
}

/** Tells how late retries were: those that were due while a process was away, and all others. */
function tell(
  events: number,
  kills: readonly { readonly service: string; readonly killedMs: number }[],
  retries: readonly Retry[],
): void {
  const isDueIn =
    (killedMs: number) =>
    ({ dueMs }: Retry) =>
      dueMs >= killedMs && dueMs < killedMs + AWAY_MS;
  const lines = kills.map(
    ({ service, killedMs }) => `${service}: ${show(retries.filter(isDueIn(killedMs)))}`,
  );
  const others = retries.filter((retry) => !kills.some(({ killedMs }) => isDueIn(killedMs)(retry)));
  process.stderr.write(
    `${events} events, 0 lost; ${retries.length} retries, none made twice; due while one process was away\n  ` +
      `${lines.join("\n  ")}\n  none at that moment: ${show(others)}\n`,
  );
}

function show(retries: readonly Retry[]): string {
  const late = retries.map(({ lateMs }) => lateMs / 1_000).sort((a, b) => a - b);
  const at = (share: number) => late[Math.floor(share * (late.length - 1))]?.toFixed(1);
  return `${late.length} retries, late by ${at(0.5)} s in the middle, ${at(1)} s at most`;
}
