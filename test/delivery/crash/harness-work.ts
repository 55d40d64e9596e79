import type { temporal } from "@temporalio/proto";
import { listWorkflows, withEngine } from "./harness-engine.ts";
import type { CrashStack } from "./harness-stack.ts";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const READ_AT_ONCE = 16;

/** How many workflows each relay started, and each worker was the first to run; one number a process. */
export type Work = { readonly relays: readonly number[]; readonly workers: readonly number[] };

/** Reads from all histories which processes did the work, by the identities that Temporal notes. */
export async function countWork(stack: CrashStack): Promise<Work> {
  const left = (await listWorkflows(stack)).values();
  const started = new Map<string, number>();
  const ran = new Map<string, number>();
  const count = (of: Map<string, number>, identity: string | null | undefined) => {
    if (identity) of.set(identity, (of.get(identity) ?? 0) + 1);
  };
  await withEngine(stack, async ({ workflow }) => {
    const readHistories = async () => {
      for (const { workflowId, runId } of left) {
        const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
        const first = <Part>(find: (event: HistoryEvent) => Part) =>
          events?.map(find).find(Boolean);
        count(started, first((event) => event.workflowExecutionStartedEventAttributes)?.identity);
        count(ran, first((event) => event.workflowTaskCompletedEventAttributes)?.identity);
      }
    };
    await Promise.all(Array.from({ length: READ_AT_ONCE }, readHistories));
  });
  // Workers start workflows too: those of retries.
  for (const worker of ran.keys()) started.delete(worker);
  return { relays: [...started.values()], workers: [...ran.values()] };
}
