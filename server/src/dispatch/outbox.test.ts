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

it("ADR 0031: a new entry is leased to a waiting poller, unless older entries of its endpoint are throttled", async () => {
  const outbox = createOutbox(PROCESS_TIMING);
  const { attempts } = outbox;
  const over = new AbortController();
  const look = async () => ({ ...NOTHING, throttled: new Set(["full"]) });
  const claimed = attempts.claim(look, IDLE, over.signal);
  await new Promise(setImmediate);

  const leases = createLeases(outbox);
  leases.begin();
  expect(leases.lease(attemptAt("full"))).toBeUndefined();
  expect(leases.lease(attemptAt("open"))).toBeDefined();
  leases.committed();
  expect((await claimed).map(({ endpointId }) => endpointId)).toEqual(["open"]);
  over.abort();
});

it("ADR 0031: a new entry is not leased to a poller that finds its endpoint slow", async () => {
  const outbox = createOutbox(PROCESS_TIMING);
  const over = new AbortController();
  const poller = { ...IDLE, slow: new Set(["slow"]) };
  const claimed = outbox.attempts.claim(async () => NOTHING, poller, over.signal);
  await new Promise(setImmediate);

  const leases = createLeases(outbox);
  leases.begin();
  expect(leases.lease(attemptAt("slow"))).toBeUndefined();
  expect(leases.lease(attemptAt("open"))).toBeDefined();
  leases.committed();
  expect((await claimed).map(({ endpointId }) => endpointId)).toEqual(["open"]);
  over.abort();
});

it.each([
  ["given up when its commit took longer than two seconds", 0, 2_001],
  ["given up when load and commit together took longer than two seconds", 1_000, 1_001],
  ["given to its poller when load and commit together took two seconds", 1_000, 1_000],
])("ADR 0028: a lease is %s", async (_, loadMs, commitMs) => {
  let nowMs = 0;
  const outbox = createOutbox({ ...PROCESS_TIMING, nowMs: () => nowMs });
  const over = new AbortController();
  const claimed = outbox.attempts.claim(async () => NOTHING, IDLE, over.signal);
  await new Promise(setImmediate);

  const leases = createLeases(outbox);
  nowMs += loadMs;
  leases.begin();
  const leaseId = leases.lease(attemptAt("open"));
  nowMs += commitMs;
  leases.committed();
  over.abort();
  const given = (await claimed).map(({ leaseId }) => leaseId);
  expect([given, [...outbox.unheard.keys()]]).toEqual(
    nowMs > 2_000 ? [[], [leaseId]] : [[leaseId], []],
  );
});

it("ADR 0028: a poller whose wait ends while a commit hangs is answered, and its lease is released", async () => {
  const outbox = createOutbox(PROCESS_TIMING);
  const over = new AbortController();
  const claimed = outbox.attempts.claim(async () => NOTHING, IDLE, over.signal);
  await new Promise(setImmediate);

  const leases = createLeases(outbox);
  leases.begin();
  const leaseId = leases.lease(attemptAt("open"));
  over.abort();
  expect(await claimed).toEqual([]);
  leases.committed();
  expect([...outbox.unheard.keys()]).toEqual([leaseId]);
});
