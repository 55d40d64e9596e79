import { MeService } from "@activity/proto";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { createReader } from "../../harness/builders.ts";
import { type KilledRun, killInFlight, runWithKills } from "./harness-kills.ts";
import { expectNothingLost } from "./harness-outcome.ts";
import type { Victim } from "./harness-process.ts";
import { expectNothingTold } from "./harness-search.ts";
import { SIZE } from "./harness-size.ts";
import { type CrashStack, startCrashStack } from "./harness-stack.ts";
import { countDueWithin } from "./harness-states.ts";

const MINUTE_MS = 60_000;
const SETTLING_MS = (SIZE.settleMinutes + 1) * MINUTE_MS;
const CALM = { timeout: SIZE.settleMinutes * MINUTE_MS, interval: 1_000 };
const VICTIMS = ["dispatcher", "core", "database", "Temporal"] as const;
/** A vtgate and the vttablets of all shards run in one process. */
const ON_VITESS = inject("shards") === undefined ? [] : (["Vitess"] as const);
const RUNS = (["retries", "all"] as const).flatMap((workflows) =>
  [...VICTIMS, ...ON_VITESS].map((victim) => ({
    ...{ victim, workflows, size: SIZE[workflows] },
    killed: undefined as KilledRun | undefined,
  })),
);

let stack: CrashStack;
let apiKey: string;
let dispatchers: Record<"retries" | "all", Victim>;
beforeAll(async () => {
  stack = await startCrashStack();
  ({ apiKey } = await createReader({ client: stack.client }));
  // The core's log must not show the key.
  await stack.client(MeService, { authorization: `Bearer ${apiKey}` }).getMe({});
  dispatchers = {
    retries: stack.dispatcher("dispatcher"),
    all: stack.dispatcher("dispatcher-all", { DELIVERY_WORKFLOWS: "all" }),
  };
}, 5 * MINUTE_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

/**
 * The attempts in flight when a dispatcher was killed. Other kills repeat nothing, because a living dispatcher keeps
 * what it made.
 */
const mayRepeat: string[] = [];

describe.each(RUNS)("DELIVERY_WORKFLOWS=$workflows: $size.events events in flight", (run) => {
  const { victim: name, workflows, size } = run;
  it(
    `continue after each of ${size.kills} kills of the ${name}`,
    async () => {
      const { core, database, vitess = database, temporal } = stack;
      const dispatcher = dispatchers[workflows];
      if (workflows === "all" && dispatchers.retries.isRunning()) {
        // Temporal makes retries in the order of their due times, so thousands would come first.
        await expect.poll(() => countDueWithin(stack, 60), CALM).toBe(0);
        mayRepeat.push(...(await killInFlight(stack, dispatchers.retries)));
      }
      const victim = { dispatcher, core, database, Vitess: vitess, Temporal: temporal }[name];
      // Another dispatcher can claim expired leases only after 14 seconds. A dispatcher must live long enough to see
      // some.
      const longestLifeMs = name === "dispatcher" ? 10_000 : 2_000;
      const killed = await runWithKills(stack, { victim, dispatcher, size, longestLifeMs });
      run.killed = killed;
      if (name === "dispatcher") mayRepeat.push(...killed.attempts);
      // Deliveries were in flight at every kill: at the first kill all but those that the receiver had answered.
      const { inFlight } = killed;
      expect(inFlight).toHaveLength(size.kills);
      expect(inFlight[0]).toBeGreaterThanOrEqual(size.events - size.answeredPerLife);
      expect(Math.min(...inFlight)).toBeGreaterThan(0);
    },
    (size.kills / 2) * MINUTE_MS + 2 * SETTLING_MS,
  );
});

describe("afterwards, no event is lost, and only attempts in flight at the death of a dispatcher were repeated", () => {
  it.each(RUNS)(
    "at the kills of the $victim, DELIVERY_WORKFLOWS=$workflows",
    async ({ victim, workflows, killed }) => {
      if (killed === undefined) throw new Error(`the ${victim} was not killed`);
      const { party, events } = killed;
      await expectNothingLost(stack, { party, events, workflows, mayRepeat });
    },
    SETTLING_MS,
  );

  it(
    "and no history and no log holds a secret, a payload, a URL or a name",
    async () => {
      const parties = RUNS.flatMap(({ killed }) => killed?.party ?? []);
      await expectNothingTold(stack, parties, [apiKey]);
    },
    5 * MINUTE_MS,
  );
});
