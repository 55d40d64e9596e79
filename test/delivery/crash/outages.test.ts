import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { Task } from "../../../server/src/dispatch/outbox-store.ts";
import {
  duplicatesOf,
  inFlightOf,
  listRecorded,
  nameOf,
  requestsOf,
  without,
} from "./harness-attempts.ts";
import { createGate } from "./harness-gate.ts";
import { expectNothingLost } from "./harness-outcome.ts";
import type { NodeVictim } from "./harness-process.ts";
import { expectNothingTold } from "./harness-search.ts";
import { setReadOnly } from "./harness-servers.ts";
import { byShares } from "./harness-shares.ts";
import { SIZE } from "./harness-size.ts";
import { type CrashStack, startCrashStack } from "./harness-stack.ts";
import {
  countInFlight,
  countOutbox,
  countStates,
  listLeases,
  spreadOverLastMinute,
} from "./harness-states.ts";
import { createParty, type Party, writeDonations } from "./harness-writers.ts";

const MINUTE_MS = 60_000;
/** Longer than a dispatcher waits before it tries Temporal again, and than a restart takes. */
const SOON = { timeout: MINUTE_MS, interval: 100 };
/** Enough that more first attempts can be in flight than one call records. */
const ACCOUNTS = 40;
const RETRIED = 40;
const AT_ONCE = 160;
const FAILING = byShares({ failing: 1, slow: 0 });
const HALF_FAILING = byShares({ failing: 0.5, slow: 0.1 });

let stack: CrashStack;
let dispatcher: NodeVictim;
beforeAll(async () => {
  stack = await startCrashStack();
  dispatcher = stack.dispatcher("dispatcher");
  await dispatcher.start();
}, 5 * MINUTE_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

const written: { readonly party: Party; readonly events: number }[] = [];

it(
  `first attempts go on while Temporal is away for ${SIZE.temporalAwaySeconds} s`,
  async () => {
    stack.receiver.behaviour = HALF_FAILING;
    const party = await createParty(stack, ACCOUNTS);
    const backAt = performance.now() + SIZE.temporalAwaySeconds * 1_000;
    const perRound = SIZE.events / 10;
    let events = 0;
    await stack.temporal.kill();
    do {
      await writeDonations(stack, party, perRound);
      events += perRound;
      await untilFirstAttempts(party);
      await wait(SIZE.temporalAwaySeconds * 100);
    } while (performance.now() < backAt);
    const last = await retriesDueWithinAMinute();
    written.push({ party, events }, { party: last, events: RETRIED });
    const made = stack.receiver.requests.map(nameOf);
    expect(made).toHaveLength(events + RETRIED);
    expect(made.every((name) => name.endsWith(" 1"))).toBe(true);
    // Retries wait where an operator sees them.
    const { Retrying: retrying = 0 } = await countStates(stack, party);
    expect(retrying).toBeGreaterThan(0);
    expect(await countOutbox(stack, true)).toBe(retrying + RETRIED);
    await stack.temporal.start();
    await expect.poll(() => countOutbox(stack), SOON).toBe(0);
    process.stderr.write(
      `Temporal away for ${SIZE.temporalAwaySeconds} s: ${made.length} first attempts meanwhile, ` +
        `${retrying + RETRIED} retries begun after it\n`,
    );
  },
  SIZE.temporalAwaySeconds * 1_000 + 5 * MINUTE_MS,
);

it(
  `a database that can only be read for ${SIZE.readOnlySeconds} s causes no attempt beyond those due`,
  async () => {
    const retried = written.map(({ party }) => party);
    const party = await createParty(stack, ACCOUNTS);
    const gate = createGate(HALF_FAILING, ({ requestLine }) => requestLine.includes(party.path));
    stack.receiver.behaviour = gate.behaviour;
    // However slowly they are written, they are all leased at one time.
    dispatcher.pause();
    await writeDonations(stack, party, AT_ONCE);
    dispatcher.resume();
    const some = { ...party, accountIds: party.accountIds.slice(0, 4) };
    const writing = writeDonations(stack, some, SIZE.events - AT_ONCE);
    written.push({ party, events: SIZE.events });
    const leasedFirst = async () => (await countInFlight(stack, party)).leased;
    await expect.poll(leasedFirst, SOON).toBeGreaterThanOrEqual(AT_ONCE);
    await setReadOnly(stack.folder, true);
    const leases = await listLeases(stack);
    const recorded = await listRecorded(stack);
    const retriesOf = () => retried.flatMap((one) => inFlightOf(requestsOf(stack, one), recorded));
    const before = retriesOf();
    gate.open();
    await wait(SIZE.readOnlySeconds * 1_000);
    // All that was leased was attempted, nothing else was, and nothing could be recorded.
    const firstAttempts = inFlightOf(requestsOf(stack, party), recorded);
    const leased = leases.filter(({ task }) => task === Task.Attempt);
    expect(new Set(firstAttempts)).toEqual(new Set(leased.map(({ event_id: id }) => `${id} 1`)));
    expect(await listRecorded(stack)).toEqual(recorded);
    const retries = without(retriesOf(), before);
    expect(retries.length).toBeGreaterThan(0);
    expect(duplicatesOf(stack.receiver.requests)).toEqual([]);
    await setReadOnly(stack.folder, false);
    const { callsRepeated } = await writing;
    expect(callsRepeated).toBeGreaterThan(0);
    process.stderr.write(
      `database read-only for ${SIZE.readOnlySeconds} s: ${firstAttempts.length} first attempts and ` +
        `${retries.length} retries made meanwhile, ${callsRepeated} calls of writers repeated\n`,
    );
  },
  SIZE.readOnlySeconds * 1_000 + 5 * MINUTE_MS,
);

it(
  "afterwards, nothing is lost, and no attempt was made twice",
  async () => {
    expect(written).toHaveLength(3);
    for (const each of written) await expectNothingLost(stack, { ...each, workflows: "retries" });
  },
  (SIZE.settleMinutes + 1) * MINUTE_MS,
);

it(
  "and no history and no log holds a secret, a payload, a URL or a name",
  async () => {
    const parties = written.map(({ party }) => party);
    process.stderr.write(`searched: ${await expectNothingTold(stack, parties)}\n`);
  },
  5 * MINUTE_MS,
);

/** Waits until the first attempts of all of a party's deliveries are on record. */
async function untilFirstAttempts(party: Party): Promise<void> {
  await expect.poll(async () => (await countStates(stack, party)).Pending, SOON).toBe(undefined);
}

/** Makes deliveries that failed once, and whose retries are due one after the other. */
async function retriesDueWithinAMinute(): Promise<Party> {
  stack.receiver.behaviour = FAILING;
  const party = await createParty(stack, ACCOUNTS);
  await writeDonations(stack, party, RETRIED);
  await untilFirstAttempts(party);
  await spreadOverLastMinute(stack, party);
  stack.receiver.behaviour = HALF_FAILING;
  return party;
}
