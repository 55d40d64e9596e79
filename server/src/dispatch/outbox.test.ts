import { PROCESS_TIMING } from "@activity/runtime/timing";
import { expect, it } from "vitest";
import type { ClaimedAttempt } from "./claim.ts";
import { createLeases, createOutbox } from "./outbox.ts";

const attemptAt = (endpointId: string): Omit<ClaimedAttempt, "leaseId"> => ({
  ...{ accountNo: 1, deliveryId: `${endpointId}-delivery`, run: 1, endpointId, eventId: "event" },
  ...{ url: "https://receiver.example/", secret: Buffer.alloc(0), payload: Buffer.alloc(0) },
  standardWebhooks: false,
});

const IDLE = { limit: 8, idle: true, slow: new Set<string>() };
const NOTHING = { entries: [], throttled: new Set<string>(), hasMore: false };

/** Starts a poller that waits, and creates the leases of a transaction. */
async function startPoller({ poller = IDLE, look = NOTHING, nowMs = PROCESS_TIMING.nowMs } = {}) {
  const outbox = createOutbox({ ...PROCESS_TIMING, nowMs });
  const over = new AbortController();
  const claimed = outbox.attempts.claim(async () => look, poller, over.signal);
  await new Promise(setImmediate);
  const endpointIds = async () => (await claimed).map(({ endpointId }) => endpointId);
  return { outbox, claimed, endpointIds, leases: createLeases(outbox), leave: () => over.abort() };
}

it.each([
  [
    "older entries of its endpoint are throttled",
    { look: { ...NOTHING, throttled: new Set(["a"]) } },
  ],
  ["the poller finds its endpoint slow", { poller: { ...IDLE, slow: new Set(["a"]) } }],
])("ADR 0028: a new entry is leased to a waiting poller, unless %s", async (_, waiting) => {
  const { leases, endpointIds } = await startPoller(waiting);
  leases.begin();
  expect(leases.lease(attemptAt("a"))).toBeUndefined();
  expect(leases.lease(attemptAt("open"))).toBeDefined();
  leases.committed();
  expect(await endpointIds()).toEqual(["open"]);
});

it("ADR 0028: each entry is leased once and within the poller's limit when a transaction is repeated after a deadlock", async () => {
  const { leases, endpointIds } = await startPoller({ poller: { ...IDLE, limit: 1 } });
  for (let turn = 0; turn < 2; turn++) {
    leases.begin();
    expect(leases.lease(attemptAt("first"))).toBeDefined();
    expect(leases.lease(attemptAt("second"))).toBeUndefined();
  }
  leases.committed();
  expect(await endpointIds()).toEqual(["first"]);
});

it.each([
  ["given up when its commit took longer than two seconds", 0, 2_001],
  ["given up when load and commit together took longer than two seconds", 1_000, 1_001],
  ["given to its poller when load and commit together took two seconds", 1_000, 1_000],
])("ADR 0028: a lease is %s", async (_, loadMs, commitMs) => {
  let nowMs = 0;
  const { outbox, claimed, leases, leave } = await startPoller({ nowMs: () => nowMs });
  nowMs += loadMs;
  leases.begin();
  const leaseId = leases.lease(attemptAt("open"));
  nowMs += commitMs;
  leases.committed();
  leave();
  const given = (await claimed).map(({ leaseId }) => leaseId);
  expect([given, [...outbox.unheard.keys()]]).toEqual(
    nowMs > 2_000 ? [[], [leaseId]] : [[leaseId], []],
  );
});
