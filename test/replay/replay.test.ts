import { readdirSync, readFileSync } from "node:fs";
import { temporal } from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { beforeAll, expect, it } from "vitest";
import { bundledCode } from "../../workflows/src/temporal/worker.ts";

const HISTORIES = new URL("./histories/", import.meta.url);
const NAMES = readdirSync(HISTORIES);
/** The number of histories: at least one for each state in which a released workflow may be. */
const COUNT = 11;

let code: string;
beforeAll(async () => {
  code = await bundledCode();
});

it("has every recorded history", () => {
  expect(NAMES).toHaveLength(COUNT);
});

it.each(NAMES)("shows no path, stack trace or address of a machine: %s", (name) => {
  const text = readFileSync(new URL(name, HISTORIES)).toString("latin1");
  expect(text).not.toMatch(
    /\/(?:home|root|tmp|usr|work|Users)\/|\.[cm]?[jt]s:\d|\bat \S+ \(|127\.0\.0\.1|https?:/,
  );
});

it.each(NAMES)("replays %s without a difference", async (name) => {
  const bytes = readFileSync(new URL(name, HISTORIES));
  const history = temporal.api.history.v1.History.decode(bytes);
  await Worker.runReplayHistory({ workflowBundle: { code } }, history, name);
});
