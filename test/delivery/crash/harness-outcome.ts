import { Connection, WorkflowClient } from "@temporalio/client";
import { expect } from "vitest";
import { deliverWorkflowId } from "../../../workflows/src/workflow/contract.ts";
import type { ReceivedRequest } from "../harness-receiver.ts";
import { eventIdOf, listRecorded, nameOf, requestsOf, without } from "./harness-attempts.ts";
import { lineOf, readFeed } from "./harness-feed.ts";
import { type CrashStack, SETTLE } from "./harness-stack.ts";
import { countStates, listDeliveries } from "./harness-states.ts";
import type { Party, Written } from "./harness-writers.ts";

type Expected = {
  /** Which runs had a workflow: those with a retry, which is the default, or all. */
  readonly workflows?: "retries" | "all";
  /** The attempts that may be repeated, once for each repetition. */
  readonly mayRepeat?: readonly string[];
};

/** Checks that two lists have the same entries, each equally often, in any order. */
export function expectSame(found: readonly string[], wanted: readonly string[]): void {
  const differences = { lost: without(wanted, found), unknown: without(found, wanted) };
  expect(differences).toEqual({ lost: [], unknown: [] });
}

/** Checks that every acknowledged record is in its feed once, as the core answered it. */
export async function expectWritten(stack: CrashStack, { records }: Written) {
  for (const [accountId, written] of records) {
    expect(written.length).toBeGreaterThan(0);
    const feed = await readFeed(stack, accountId);
    expectSame(
      feed.map(lineOf),
      written.map(({ line }) => line),
    );
  }
}

/**
 * Waits until every event of acknowledged records is delivered. Then checks that no other event arrived, that each
 * event always came with the same bytes, and that only attempts in `mayRepeat` were repeated. Also checks that exactly
 * the attempts that arrived are recorded, and that exactly the expected runs had a workflow.
 */
export async function expectTold(
  stack: CrashStack,
  party: Party,
  { records }: Written,
  { workflows = "retries", mayRepeat = [] }: Expected = {},
): Promise<void> {
  const due = [...records.values()].flat().flatMap(({ told }) => told);
  await expect.poll(() => countStates(stack, party), SETTLE).toEqual({ DELIVERED: due.length });
  const requests = requestsOf(stack, party);
  expectSame(toldOf(requests), due);
  for (const [first, ...others] of Map.groupBy(requests, eventIdOf).values()) {
    for (const { body } of others) expect(body).toEqual(first?.body);
  }
  const deliveries = await listDeliveries(stack, party);
  const ofParty = new Set(deliveries.map(({ event_id: id }) => id));
  expect(new Set(requests.map(eventIdOf))).toEqual(ofParty);
  const made = requests.map(nameOf);
  expect(without(made, [...new Set(made), ...mayRepeat])).toEqual([]);
  const recorded = [...(await listRecorded(stack))].filter((name) =>
    ofParty.has(name.split(" ")[0] ?? ""),
  );
  expect(new Set(recorded)).toEqual(new Set(made));
  // Entries that a dead dispatcher had leased leave the outbox after their lease.
  const listEntries = () => stack.query("SELECT delivery_id FROM outbox_entry");
  await expect.poll(listEntries, SETTLE).toEqual([]);
  const withWorkflow = deliveries.filter(({ attempts }) => workflows === "all" || attempts > 1);
  await expectWorkflows(stack, workflowIdsOf(deliveries), workflowIdsOf(withWorkflow));
}

/** Lists the events of requests, once each, by kind and record. §6.2 */
function toldOf(requests: readonly ReceivedRequest[]): string[] {
  const byEvent = new Map(requests.map((request) => [eventIdOf(request), request]));
  return [...byEvent.values()].map(({ body }) => {
    const { type, data } = JSON.parse(body.toString("utf8"));
    return `${type} ${data.id}`;
  });
}

/** The ids of the workflows of deliveries' first runs. */
const workflowIdsOf = (deliveries: readonly { readonly id: string }[]) =>
  new Set(deliveries.map(({ id }) => deliverWorkflowId({ accountNo: 0, deliveryId: id, run: 1 })));

/**
 * Checks that of the workflows in `all`, exactly those in `due` were begun, and that Temporal shows them as completed.
 */
async function expectWorkflows(
  { temporal }: CrashStack,
  all: ReadonlySet<string>,
  due: ReadonlySet<string>,
): Promise<void> {
  const connection = await Connection.connect({ address: temporal.address() });
  const client = new WorkflowClient({ connection });
  const begun = new Set<string>();
  const listUnended = async () => {
    const unended: string[] = [];
    for await (const { workflowId, status } of client.list()) {
      if (!all.has(workflowId)) continue;
      begun.add(workflowId);
      if (status.name !== "COMPLETED") unended.push(workflowId);
    }
    return unended;
  };
  await expect.poll(listUnended, SETTLE).toEqual([]);
  await connection.close();
  expect(begun).toEqual(due);
}
