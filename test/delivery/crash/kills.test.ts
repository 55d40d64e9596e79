import { ApiKeyService, MeService } from "@activity/proto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  expectKilledInFlight,
  expectNothingLost,
  type KilledRun,
  type KillPlan,
  runWithKills,
  SHARES,
  WRITTEN,
} from "./harness-kills.ts";
import type { Victim } from "./harness-process.ts";
import { expectNothingTold } from "./harness-search.ts";
import { SIZE } from "./harness-size.ts";
import { type CrashStack, Script, startCrashStack } from "./harness-stack.ts";
import type { InFlight } from "./harness-states.ts";
import { createParty } from "./harness-writers.ts";

const MINUTE_MS = 60_000;
const KILLING_MS = (SIZE.kills / 2 + 2) * MINUTE_MS;
const SETTLING_MS = (SIZE.settleMinutes + 4) * MINUTE_MS;
const VICTIMS = ["worker", "relay", "core", "database", "Temporal"] as const;
type VictimName = (typeof VICTIMS)[number];

let stack: CrashStack;
let apiKey: string;
let relay: Victim;
let worker: Victim;
let together: Victim;
beforeAll(async () => {
  stack = await startCrashStack();
  apiKey = await readWithApiKey(stack);
  relay = stack.deliverer("relay", Script.Relay);
  worker = stack.deliverer("worker", Script.Worker);
  together = stack.deliverer("together", Script.Together);
}, 5 * MINUTE_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

/** Relay and worker are apart where one of them is killed, else together, as the product has them. */
function partsOf(name: VictimName): Omit<KillPlan, "name"> {
  const { core, database, temporal } = stack;
  const victim = { worker, relay, core, database, Temporal: temporal }[name];
  const isApart = name === "worker" || name === "relay";
  const deliverers = isApart ? [relay, worker] : [together];
  // What a dead worker had begun is given out again after ten seconds: it lives to see some of that.
  return { victim, deliverers, longestLifeMs: name === "worker" ? 10_000 : 2_000 };
}

const runs = new Map<VictimName, KilledRun>();

describe(`${SIZE.events} events in flight, while something is killed ${SIZE.kills} times`, () => {
  it.each(VICTIMS)(
    "are all taken and go on: the %s",
    async (name) => {
      // The last victim's run had deliverers of its own.
      for (const one of [relay, worker, together]) if (one.isRunning()) await one.kill();
      const run = await runWithKills(stack, { name, ...partsOf(name) });
      runs.set(name, run);
      expectKilledInFlight(run);
      if (SIZE.settlesEach) await settle(run);
    },
    KILLING_MS + SETTLING_MS,
  );
});

describe("afterwards, no event is lost", () => {
  it.each(VICTIMS)(
    "that was in flight when the %s was killed",
    async (name) => {
      const run = runs.get(name);
      expect(run).toBeDefined();
      if (run !== undefined) await settle(run);
    },
    SETTLING_MS,
  );

  it(
    "and no history and no log holds a secret, a payload, a URL or a name",
    async () => {
      const parties = [...runs.values()].map(({ party }) => party);
      const searched = await expectNothingTold(stack, parties, [apiKey]);
      process.stderr.write(`searched: ${searched}\n`);
    },
    5 * MINUTE_MS,
  );
});

const settled = new Set<KilledRun>();

/** Holds a run to everything, and tells once how it went. */
async function settle(run: KilledRun): Promise<void> {
  const { sentTwice } = await expectNothingLost(stack, {
    party: run.party,
    events: WRITTEN,
    shares: SHARES,
  });
  if (settled.has(run)) return;
  settled.add(run);
  const doneAt = (performance.now() - run.startedMs) / 1000;
  const sinceLastKill = Math.round(doneAt - (run.killedAt.at(-1) ?? 0));
  process.stderr.write(
    `${run.name}: ${run.killedAt.length} kills, ${WRITTEN} events, 0 lost, ` +
      `${sentTwice} requests repeated for want of an answer, all done after ${Math.round(doneAt)} s, ` +
      `${sinceLastKill} s after the last kill; in flight at the kills: ${showInFlight(run)}; ` +
      `after the last kill ${run.retrying} to be tried again, each in a workflow of its own; ` +
      `${run.callsRepeated} calls of writers repeated; killed at ${run.killedAt.join(" ")} s\n`,
  );
}

/** Tells how much was in flight when the kills came, from the least to the most. */
function showInFlight({ inFlight }: KilledRun): string {
  const range = (name: keyof InFlight) => {
    const counts = inFlight.map((one) => one[name]);
    return `${Math.min(...counts)} to ${Math.max(...counts)}`;
  };
  return (
    `${range("all")}, of these ${range("waiting")} in the outbox, ` +
    `${range("underWay")} at their first attempt, ${range("retrying")} to be tried again`
  );
}

/** Shows the core an API key, which its log must not tell. */
async function readWithApiKey(stack: CrashStack): Promise<string> {
  const { accountIds } = await createParty(stack, { accounts: 1 });
  const [accountId = ""] = accountIds;
  const key = { accountId, name: "test", validityDays: 30 };
  const { secret } = await stack.client(ApiKeyService).createApiKey(key);
  await stack.client(MeService, { authorization: `Bearer ${secret}` }).getMe({});
  return secret;
}
