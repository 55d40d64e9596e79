import { expect, it } from "vitest";
import { createAttemptSlots, type Slot, type Turn } from "./attempt-slots.ts";

const SLOTS = { perEndpoint: 16, total: 400 };
const HANGS_MS = 10_000;

const isSlot = (taken: Slot | Turn): taken is Slot => "giveBack" in taken;

function createSlots() {
  let nowMs = 0;
  const slots = createAttemptSlots({ ...SLOTS, nowMs: () => nowMs });
  return {
    ...slots,
    takeAll(endpointId: string): Slot[] {
      const taken: Slot[] = [];
      for (let next = slots.take(endpointId); isSlot(next); next = slots.take(endpointId))
        taken.push(next);
      return taken;
    },
    /** Takes a slot and releases it. Returns the wait if no slot is free. */
    waitOf(endpointId: string): number | undefined {
      const taken = slots.take(endpointId);
      if (!isSlot(taken)) return taken.waitMs;
      taken.giveBack();
      return undefined;
    },
    pass: (milliseconds: number) => {
      nowMs += milliseconds;
    },
  };
}

it("leaves a slot to a newcomer beside 150 endpoints that hang. ADR 0028", () => {
  const slots = createSlots();
  let inFlight = 0;
  for (let endpoint = 0; endpoint < 150; endpoint++) {
    inFlight += slots.takeAll(`hangs${endpoint}`).length;
  }
  expect(inFlight).toBeLessThan(SLOTS.total);
  expect(slots.takeAll("newcomer").length).toBeGreaterThan(0);
});

it("keeps a newcomer's turn near while all slots hang, however many retries another endpoint has. ADR 0028", () => {
  const slots = createSlots();
  const hang = () =>
    Array.from({ length: SLOTS.total }, (_, each) => slots.take(`hangs${each}`)).filter(isSlot);
  const hanging = hang();
  expect(hanging).toHaveLength(SLOTS.total);
  slots.pass(HANGS_MS);
  for (const slot of hanging) slot.giveBack();
  expect(hang()).toHaveLength(SLOTS.total);
  for (const seconds of [0, 10]) {
    slots.pass(seconds * 1_000);
    const waits = Array.from({ length: 10_000 }, () => slots.waitOf("big") ?? 0);
    expect(slots.waitOf(`healthy${seconds}`)).toBe(1_000);
    // In the next minute, the big endpoint's retries ask about once a second.
    expect(waits.filter((wait) => wait < 60_000).length).toBeLessThan(65);
  }
});

it("keeps the slots of an endpoint that hangs in use by 10,000 due retries, which ask no faster than slots end. ADR 0028", () => {
  const slots = createSlots();
  /** The number of retries that ask in each second. `ending` holds the slots that end in each second. */
  const asking = new Map<number, number>([
    [0, 300],
    [60, 10_000],
  ]);
  const ending = new Map<number, Slot[]>();
  let made = 0;
  let mostAsked = 0;
  // An hour is longer than the longest wait, after which the retries must not all ask at once.
  for (let second = 0; second < 3_600; second++) {
    for (const slot of ending.get(second) ?? []) slot.giveBack();
    const asked = asking.get(second) ?? 0;
    if (second >= 80) mostAsked = Math.max(mostAsked, asked);
    for (let each = 0; each < asked; each++) {
      const taken = slots.take("hangs");
      if (isSlot(taken)) {
        made += 1;
        const end = second + HANGS_MS / 1000;
        ending.set(end, [...(ending.get(end) ?? []), taken]);
      } else {
        const next = second + Math.ceil(taken.waitMs / 1000);
        asking.set(next, (asking.get(next) ?? 0) + 1);
      }
    }
    // Another endpoint's retry finds a slot every second.
    expect(slots.waitOf("quiet")).toBeUndefined();
    slots.pass(1_000);
  }
  const possible = (3_600 / (HANGS_MS / 1000)) * SLOTS.perEndpoint;
  expect(made).toBeGreaterThan(0.9 * possible);
  expect(mostAsked).toBeLessThan(30);
});
