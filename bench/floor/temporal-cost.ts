import type { WorkflowClient } from "@temporalio/client";

type History = Awaited<ReturnType<ReturnType<WorkflowClient["getHandle"]>["fetchHistory"]>>;
/** One event of a history. */
type HistoryEvent = NonNullable<History["events"]>[number];

const SAMPLED_OF_A_TYPE = 20;
/** The SDK's name for the markers of local activities. */
const LOCAL_ACTIVITY = "core_local_activity";

/**
 * Counts the workflows since a time. Samples histories of each type to estimate what Temporal stores and what
 * Temporal Cloud would bill.
 */
export async function readTemporalCost(client: WorkflowClient, sinceMs: number) {
  const query = `StartTime >= "${new Date(sinceMs).toISOString()}"`;
  const found: { readonly type: string; readonly workflowId: string }[] = [];
  for await (const workflow of client.list({ query, pageSize: 1000 })) found.push(workflow);
  const cost = { workflows: found.length, historyEvents: 0, actions: 0 };
  for (const some of Map.groupBy(found, ({ type }) => type).values()) {
    const step = Math.max(1, Math.floor(some.length / SAMPLED_OF_A_TYPE));
    const sampled = some.filter((_, index) => index % step === 0);
    const standsFor = some.length / sampled.length;
    for (const { workflowId } of sampled) {
      const { events } = await client.getHandle(workflowId).fetchHistory();
      cost.historyEvents += standsFor * (events?.length ?? 0);
      cost.actions += standsFor * actionsOf(events ?? []);
    }
  }
  return cost;
}

/**
 * Counts a history's billable actions by https://docs.temporal.io/cloud/actions: each started workflow, initiated
 * child, timer and activity, and all local activities of one workflow task as one.
 */
export function actionsOf(events: readonly HistoryEvent[]): number {
  const billed = events.filter(
    (event) =>
      event.workflowExecutionStartedEventAttributes ||
      event.startChildWorkflowExecutionInitiatedEventAttributes ||
      event.timerStartedEventAttributes ||
      event.activityTaskScheduledEventAttributes,
  );
  return billed.length + new Set(events.flatMap(localActivityTaskOf)).size;
}

/** Returns the workflow task of a local activity's event; empty for any other event. */
export function localActivityTaskOf({ markerRecordedEventAttributes: marker }: HistoryEvent) {
  return marker?.markerName === LOCAL_ACTIVITY ? [String(marker.workflowTaskCompletedEventId)] : [];
}
