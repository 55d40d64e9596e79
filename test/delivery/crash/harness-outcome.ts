import { expect } from "vitest";
import {
  differingOf,
  eventIdOf,
  listRecorded,
  nameOf,
  requestsOf,
  without,
} from "./harness-attempts.ts";
import { SIZE } from "./harness-size.ts";
import type { CrashStack } from "./harness-stack.ts";
import { countOutbox, countStates, listDeliveries } from "./harness-states.ts";
import { expectWorkflowsOf } from "./harness-temporal.ts";
import type { Party } from "./harness-writers.ts";

/** The conditions on a party's deliveries. */
type Expected = {
  readonly party: Party;
  /** How many events were written. */
  readonly events: number;
  /** Which runs had a workflow: those with a retry, or all. */
  readonly workflows: "retries" | "all";
  /** The attempts that may be repeated, once for each repetition. */
  readonly mayRepeat?: readonly string[];
};

const SETTLE = { timeout: SIZE.settleMinutes * 60_000, interval: 500 };

/**
 * Waits until all deliveries of a party are delivered. Then checks: each event arrived, always with the same bytes.
 * Only the attempts in `mayRepeat` were repeated. The recorded attempts are those that arrived. Each retry had its
 * own workflow.
 */
export async function expectNothingLost(
  stack: CrashStack,
  { party, events, workflows, mayRepeat = [] }: Expected,
): Promise<void> {
  await expect
    .poll(() => countStates(stack, party), SETTLE)
    .toEqual({ Delivered: expect.any(Number) });
  expect(await countStates(stack, party)).toEqual({ Delivered: events });
  const requests = requestsOf(stack, party);
  const deliveries = await listDeliveries(stack, party);
  const eventIds = deliveries.map(({ event_id: id }) => id);
  expect(new Set(requests.map(eventIdOf))).toEqual(new Set(eventIds));
  expect(new Set(eventIds).size).toBe(events);
  expect(differingOf(requests)).toEqual([]);
  const made = requests.map(nameOf);
  expect(without(made, [...new Set(made), ...mayRepeat])).toEqual([]);
  const ofParty = new Set(eventIds);
  const recorded = [...(await listRecorded(stack))].filter((name) =>
    ofParty.has(name.split(" ")[0] ?? ""),
  );
  expect(new Set(recorded)).toEqual(new Set(made));
  // Entries that a dead dispatcher had leased leave the outbox after their lease.
  await expect.poll(() => countOutbox(stack), SETTLE).toBe(0);
  const idOf = ({ id }: { readonly id: string }) => id;
  const withWorkflow = deliveries.filter(({ attempts }) => workflows === "all" || attempts > 1);
  await expectWorkflowsOf(stack, deliveries.map(idOf), withWorkflow.map(idOf));
}
