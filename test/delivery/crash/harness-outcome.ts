import { Connection, WorkflowClient, type WorkflowExecutionInfo } from "@temporalio/client";
import { expect } from "vitest";
import type { ReceivedRequest } from "../harness-receiver.ts";
import { eventIdOf, listRecorded, nameOf, requestsOf, without } from "./harness-attempts.ts";
import { lineOf, readFeed } from "./harness-feed.ts";
import { type CrashStack, SETTLE } from "./harness-stack.ts";
import { countStates, listDeliveries } from "./harness-states.ts";
import type { Party, Written } from "./harness-writers.ts";

const OF_FIRST_RUN = /^delivery-([a-z0-9]{15})-1$/;

/** The conditions on deliveries. */
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

/** Checks that every acknowledged record is in its feed once and as answered. */
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
 * Waits until every event of acknowledged records is delivered. Then checks: no other event arrived, and each arrived
 * always with the same bytes. Only the attempts in `mayRepeat` were repeated. The recorded attempts are those that arrived. Each retry had its own workflow.
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
  const idOf = ({ id }: { readonly id: string }) => id;
  const withWorkflow = deliveries.filter(({ attempts }) => workflows === "all" || attempts > 1);
  await expectWorkflowsOf(stack, deliveries.map(idOf), withWorkflow.map(idOf));
}

/** Lists the events of requests, once each, by kind and record. §6.2 */
function toldOf(requests: readonly ReceivedRequest[]): string[] {
  const byEvent = new Map(requests.map((request) => [eventIdOf(request), request]));
  return [...byEvent.values()].map(({ body }) => {
    const { type, data } = JSON.parse(body.toString("utf8"));
    return `${type} ${data.id}`;
  });
}

/**
 * Checks that exactly the deliveries in `withWorkflow` had a workflow, each its own, and that Temporal shows all as
 * completed. All deliveries have ended.
 */
async function expectWorkflowsOf(
  stack: CrashStack,
  deliveryIds: readonly string[],
  withWorkflow: readonly string[],
): Promise<void> {
  const asked = new Set(deliveryIds);
  const listOwn = async () =>
    (await listWorkflows(stack)).filter((listed) => asked.has(deliveryIdOf(listed)));
  const listUnended = async () =>
    (await listOwn()).filter(({ status }) => status.name !== "COMPLETED").map(deliveryIdOf);
  await expect.poll(listUnended, SETTLE).toEqual([]);
  const own = new Set((await listOwn()).map(deliveryIdOf));
  expect([...own].sort()).toEqual([...withWorkflow].sort());
}

async function listWorkflows({ temporal }: CrashStack): Promise<WorkflowExecutionInfo[]> {
  const connection = await Connection.connect({ address: temporal.address() });
  const listed: WorkflowExecutionInfo[] = [];
  for await (const info of new WorkflowClient({ connection }).list()) listed.push(info);
  await connection.close();
  return listed;
}

/** Returns the delivery of a workflow's first run. */
function deliveryIdOf({ workflowId }: WorkflowExecutionInfo): string {
  return OF_FIRST_RUN.exec(workflowId)?.[1] ?? `not a run: ${workflowId}`;
}
