import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { requestsOf } from "../delivery/crash/harness-attempts.ts";
import { expectTold } from "../delivery/crash/harness-outcome.ts";
import { expectNothingTold } from "../delivery/crash/harness-search.ts";
import { type ClusterVictim, clusterVictim } from "../delivery/crash/harness-servers.ts";
import { byShares } from "../delivery/crash/harness-shares.ts";
import { type CrashStack, SETTLE_MS, startCrashStack } from "../delivery/crash/harness-stack.ts";
import { createParty, type Party, startWriting } from "../delivery/crash/harness-writers.ts";
import { headerOf } from "../delivery/harness-deliveries.ts";
import {
  startTemporalCluster,
  type TemporalCluster,
} from "../operating/harness-temporal-cluster.ts";

const MINUTE_MS = 60_000;
const ACCOUNTS = 4;
/** Longer than the other hosts need to notice a failure, about six seconds. They continue without it. */
const AWAY_MS = 15_000;
const ALIVE_MS = 10_000;
const WRITERS = 4;
const PAUSE_MS = 1_000;
/** The first build of Temporal's server on a machine takes minutes. */
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
  "loses no event and makes no attempt twice while each process of Temporal's cluster is killed. ADR 0028",
  async () => {
    // Each retry takes one to two seconds, so some are in flight at every kill.
    stack.receiver.behaviour = byShares({ failing: 0.5, slow: 1 });
    const writing = startWriting(stack, party, WRITERS, () => wait(PAUSE_MS));
    await expect.poll(countRetries, { timeout: 3 * MINUTE_MS }).toBeGreaterThan(0);
    const { hosts } = temporal.cluster();
    expect(hosts).toHaveLength(8);
    for (const host of hosts) {
      await wait(ALIVE_MS);
      await host.kill();
      await wait(AWAY_MS);
      await host.start();
    }
    writing.stop();
    await expectTold(stack, party, await writing.written);
  },
  8 * MINUTE_MS + 2 * SETTLE_MS,
);

it(
  "shows no secret, payload, URL or name in Temporal's histories, logs and tables",
  () => expectNothingTold(stack, party),
  5 * MINUTE_MS,
);

/** Counts the retries that the receiver got. */
function countRetries(): number {
  return requestsOf(stack, party).filter((request) => headerOf(request, "Service-Attempt") === "2")
    .length;
}
