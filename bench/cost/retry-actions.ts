import { readFileSync } from "node:fs";
import proto from "@temporalio/proto";
import { actionsOf, localActivityTaskOf } from "../floor/temporal-cost.ts";

/** A run of seven retries, as the tests recorded it from a real Temporal: the first attempt was the dispatcher's. */
const RECORDED = new URL(
  "../../test/replay/histories/1.0.0-goes-on-with-attempt-2-a-minute-after-the-end-of-attempt-1-a.pb",
  import.meta.url,
);

/** Counts what Temporal has done and keeps of a run after each of its retries, the first to the seventh. */
export function retryActions() {
  const { events } = proto.temporal.api.history.v1.History.decode(readFileSync(RECORDED));
  const tasks = [...new Set(events.flatMap(localActivityTaskOf))];
  return tasks.map((task, index) => {
    const last = events.findLastIndex((event) => localActivityTaskOf(event).includes(task));
    const made = events.slice(0, 1 + last);
    return { retries: index + 1, actions: actionsOf(made), historyEvents: made.length };
  });
}
