import { ApiKeyService, MeService } from "@activity/proto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectNothingLost, type KilledRun, runWithKills, SHARES } from "./harness-kills.ts";
import type { Victim } from "./harness-process.ts";
import { expectNothingTold } from "./harness-search.ts";
import { SIZE } from "./harness-size.ts";
import { type CrashStack, Script, startCrashStack } from "./harness-stack.ts";
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
afterAll(() => stack?.stop(), MINUTE_MS);

/** Relay and worker are apart where one of them is killed, else together, as the product has them. */
function partsOf(name: VictimName): { victim: Victim; deliverers: readonly Victim[] } {
  const { core, database, temporal } = stack;
  const victim = { worker, relay, core, database, Temporal: temporal }[name];
  const isApart = name === "worker" || name === "relay";
  return { victim, deliverers: isApart ? [relay, worker] : [together] };
}

const runs = new Map<VictimName, KilledRun>();

describe(`${SIZE.events} events, while something is killed ${SIZE.kills} times`, () => {
  it.each(VICTIMS)(
    "are all taken and go on: the %s",
    async (name) => {
      const { victim, deliverers } = partsOf(name);
      const run = await runWithKills(stack, { name, victim, deliverers });
      runs.set(name, run);
      if (SIZE.settlesEach) await settle(run);
      // The next victim's run has deliverers of its own.
      const isLast = name === VICTIMS.at(-1);
      if (!isLast) for (const deliverer of deliverers) await deliverer.kill();
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
    events: SIZE.events,
    shares: SHARES,
  });
  if (settled.has(run)) return;
  settled.add(run);
  const seconds = Math.round((performance.now() - run.startedMs) / 1000);
  process.stderr.write(
    `${run.name}: ${run.killedAt.length} kills, ${SIZE.events} events, 0 lost, ${sentTwice} sent twice, ` +
      `all done after ${seconds} s; at most ${run.mostInFlight} in flight, ${run.timers} timers after the ` +
      `last kill, ${run.callsRepeated} calls of writers repeated; killed at ${run.killedAt.join(" ")} s\n`,
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
