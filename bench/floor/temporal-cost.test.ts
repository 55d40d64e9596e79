import { readFileSync } from "node:fs";
import proto from "@temporalio/proto";
import { expect, it } from "vitest";
import { actionsOf, localActivityTaskOf } from "./temporal-cost.ts";

/** A run of seven retries that the tests recorded from a real Temporal. The dispatcher made the first attempt. */
const RECORDED = new URL(
  "../../test/replay/histories/1.0.0-continues-with-attempt-2-a-minute-after-the-end-of-attempt-1.pb",
  import.meta.url,
);

it("docs/scale.md: a run of k retries, 7 at most, costs Temporal 2k actions", () => {
  const { events } = proto.temporal.api.history.v1.History.decode(readFileSync(RECORDED));
  const tasks = [...new Set(events.flatMap(localActivityTaskOf))];
  const actions = tasks.map((task) => {
    const last = events.findLastIndex((event) => localActivityTaskOf(event).includes(task));
    return actionsOf(events.slice(0, 1 + last));
  });
  expect(actions).toEqual([2, 4, 6, 8, 10, 12, 14]);
});
