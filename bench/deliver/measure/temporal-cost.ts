import type { WorkflowClient } from "@temporalio/client";

/** What Temporal keeps, and what Temporal Cloud would bill, for some deliveries. */
export type TemporalCost = {
  readonly workflows: number;
  readonly historyEvents: number;
  readonly actions: number;
};

type History = Awaited<ReturnType<ReturnType<WorkflowClient["getHandle"]>["fetchHistory"]>>;
/** One event of a history. */
export type HistoryEvent = NonNullable<History["events"]>[number];

const SAMPLED_OF_A_TYPE = 20;

/** Counts the workflows started since then, and estimates their cost from some histories of each type. */
export async function readTemporalCost(
  client: WorkflowClient,
  sinceMs: number,
): Promise<TemporalCost> {
  const query = `StartTime >= "${new Date(sinceMs).toISOString()}"`;
  const idsByType = new Map<string, string[]>();
  for await (const { type, workflowId } of client.list({ query, pageSize: 1000 })) {
    idsByType.set(type, [...(idsByType.get(type) ?? []), workflowId]);
  }
  const costs = await Promise.all([...idsByType.values()].map((ids) => costOfType(client, ids)));
  const sum = (pick: (cost: TemporalCost) => number) =>
    costs.reduce((total, cost) => total + pick(cost), 0);
  return {
    workflows: sum(({ workflows }) => workflows),
    historyEvents: sum(({ historyEvents }) => historyEvents),
    actions: sum(({ actions }) => actions),
  };
}

async function costOfType(client: WorkflowClient, ids: readonly string[]): Promise<TemporalCost> {
  const step = Math.max(1, Math.floor(ids.length / SAMPLED_OF_A_TYPE));
  const sampled = ids.filter((_, index) => index % step === 0);
  let historyEvents = 0;
  let actions = 0;
  for (const id of sampled) {
    const { events } = await client.getHandle(id).fetchHistory();
    historyEvents += events?.length ?? 0;
    actions += actionsOf(events ?? []);
  }
  const scale = ids.length / sampled.length;
  return {
    workflows: ids.length,
    historyEvents: historyEvents * scale,
    actions: actions * scale,
  };
}

/**
 * Counts the billable actions of a history by https://docs.temporal.io/cloud/actions: a workflow started,
 * by any starter; the intent to start a child; a timer; an activity; and all the local activities of one
 * workflow task together.
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

/** Names the workflow task of which an event is one of the local activities, or nothing. */
export function localActivityTaskOf({ markerRecordedEventAttributes: marker }: HistoryEvent) {
  return marker?.markerName === LOCAL_ACTIVITY ? [String(marker.workflowTaskCompletedEventId)] : [];
}

/** What the SDK calls the marker of a local activity. */
const LOCAL_ACTIVITY = "core_local_activity";
