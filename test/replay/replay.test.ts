import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { temporal } from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { expect, it } from "vitest";
import { bundleWorkflows } from "../../workflows/src/worker/create-worker.ts";

const HISTORIES = new URL("./histories/", import.meta.url);
const names = readdirSync(fileURLToPath(HISTORIES)).filter((name) => name.endsWith(".pb"));

it("has histories to replay", () => {
  expect(names.length).toBeGreaterThanOrEqual(3);
});

it.each(names)("runs on from %s as it ran before", async (name) => {
  const bytes = readFileSync(new URL(name, HISTORIES));
  const history = temporal.api.history.v1.History.decode(bytes);
  const workflowBundle = await bundleWorkflows();
  await Worker.runReplayHistory({ workflowBundle }, history, name.replace(".pb", ""));
});
