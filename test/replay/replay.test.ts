import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { temporal } from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { expect, it } from "vitest";
import { bundleWorkflows } from "../../workflows/src/worker/create-worker.ts";

const HISTORIES = new URL("./histories/", import.meta.url);
/** One of each story that a released workflow may be in the middle of. */
const NAMES = [
  "1.0.0-asks-again-in-a-minute-for-what-the-core-cannot-load-and-kee",
  "1.0.0-attempts-eight-times-1-m-5-m-15-m-1-h-3-h-6-h-and-12-h-apart",
  "1.0.0-cancels-a-sequence-whose-endpoint-was-deleted-during-a-wait",
  "1.0.0-cancels-a-sequence-whose-endpoint-was-switched-off-during-a-",
  "1.0.0-failed-loads-asks-again-ever-later-for-what-the-core-cannot-load-and-keep",
  "1.0.0-failed-loads-makes-a-first-attempt-that-could-not-be-loaded-before-in-a-p",
  "1.0.0-from-attempt-2-hands-those-of-many-that-must-be-retried-to-w",
  "1.0.0-goes-by-the-record-of-an-attempt-that-the-engine-never-heard",
  "1.0.0-puts-an-attempt-off-while-its-endpoint-is-busy-and-keeps-its",
  "1.0.0-signs-with-the-secret-and-sends-to-the-url-of-the-moment-als",
  "1.0.0-start-delay-from-attempt-2-hands-them-over-as-children-when-they-could-n",
  "1.0.0-start-delay-from-attempt-2-hands-those-of-many-that-must-be-retried-to-w",
  "1.0.0-start-delay-together-hands-them-over-as-children-when-they-could-not-be-",
  "1.0.0-start-delay-together-hands-those-of-many-that-must-be-retried-to-workflo",
  "1.0.0-starts-nothing-for-a-manual-retry-that-is-asked-for-while-a-",
  "1.0.0-stops-at-the-first-success",
  "1.0.0-together-hands-those-of-many-that-must-be-retried-to-workflo",
];

it("replays every history that was recorded, and misses none", () => {
  const files = readdirSync(fileURLToPath(HISTORIES));
  expect(files.toSorted()).toEqual(NAMES.map((name) => `${name}.pb`));
});

it.each(NAMES)("runs on from %s as it ran before", async (name) => {
  const bytes = readFileSync(new URL(`${name}.pb`, HISTORIES));
  const history = temporal.api.history.v1.History.decode(bytes);
  const workflowBundle = await bundleWorkflows();
  await Worker.runReplayHistory({ workflowBundle }, history, name);
});
