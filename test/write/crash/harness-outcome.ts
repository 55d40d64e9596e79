import { expect } from "vitest";
import { eventIdOf, requestsOf, without } from "../../delivery/crash/harness-attempts.ts";
import { expectNothingLost } from "../../delivery/crash/harness-outcome.ts";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";
import type { Party } from "../../delivery/crash/harness-writers.ts";
import type { ReceivedRequest } from "../../delivery/harness-receiver.ts";
import { lineOf, readFeed } from "./harness-feed.ts";
import type { Written } from "./harness-writing.ts";

/** Checks that two lists have the same entries, each equally often, in any order. */
export function expectSame(found: readonly string[], wanted: readonly string[]): void {
  const differences = { lost: without(wanted, found), unknown: without(found, wanted) };
  expect(differences).toEqual({ lost: [], unknown: [] });
}

/**
 * Checks that every acknowledged record is in its feed once and as answered, and that no repeated call changed it.
 */
export async function expectWritten(stack: CrashStack, { records, differing }: Written) {
  for (const [accountId, written] of records) {
    expect(written.length).toBeGreaterThan(0);
    const feed = await readFeed(stack, accountId);
    expectSame(
      feed.map(lineOf),
      written.map(({ line }) => line),
    );
  }
  expect(differing).toEqual([]);
}

/**
 * Checks that every event of acknowledged records was delivered, always with the same bytes. No attempt was made
 * twice: the dispatcher lives and keeps each attempt until it is recorded.
 */
export async function expectTold(stack: CrashStack, party: Party, { records }: Written) {
  const due = [...records.values()].flat().flatMap(({ told }) => told);
  await expectNothingLost(stack, { party, events: due.length, workflows: "retries" });
  expectSame(toldOf(requestsOf(stack, party)), due);
}

/** Lists the events of requests, once each, by kind and record. §6.2 */
function toldOf(requests: readonly ReceivedRequest[]): string[] {
  const byEvent = new Map(requests.map((request) => [eventIdOf(request), request]));
  return [...byEvent.values()].map(({ body }) => {
    const { type, data } = JSON.parse(body.toString("utf8"));
    return `${type} ${data.id}`;
  });
}
