import { expect, it } from "vitest";
import type { ClaimedAttempt } from "./claim.ts";
import { createLeases, createOutbox } from "./outbox.ts";

const attemptAt = (endpointId: string): Omit<ClaimedAttempt, "leaseId"> => ({
  ...{ accountNo: 1, deliveryId: `${endpointId}-delivery`, run: 1, endpointId, eventId: "event" },
  ...{ url: "https://receiver.example/", secret: Buffer.alloc(0), payload: Buffer.alloc(0) },
  standardWebhooks: false,
});

it("ADR 0031: what is written is leased to who waits, but not in front of what the endpoint has left", async () => {
  const { attempts } = createOutbox(() => performance.now());
  const over = new AbortController();
  const look = async () => ({ entries: [], throttled: new Set(["full"]), hasMore: false });
  const claimed = attempts.claim(look, { limit: 8, idle: true }, over.signal);
  await new Promise(setImmediate);

  const leases = createLeases(attempts);
  leases.begin();
  expect(leases.lease(attemptAt("full"))).toBeUndefined();
  expect(leases.lease(attemptAt("open"))).toBeDefined();
  leases.committed();
  expect((await claimed).map(({ endpointId }) => endpointId)).toEqual(["open"]);
  over.abort();
});
