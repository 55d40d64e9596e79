import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { temporal } from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { beforeAll, expect, it } from "vitest";
import { bundledCode } from "../../workflows/src/temporal/worker.ts";

const HISTORIES = new URL("./histories/", import.meta.url);
/** One history for each state in which a released workflow may be. */
const NAMES = [
  "1.0.0-asks-again-ever-later-for-what-the-core-cannot-load-and-keep",
  "1.0.0-attempts-eight-times-1-m-5-m-15-m-1-h-3-h-6-h-and-12-h-apart",
  "1.0.0-cancels-a-run-whose-endpoint-was-deleted-during-a-wait",
  "1.0.0-cancels-a-run-whose-endpoint-was-of-an-account-that-was-bloc",
  "1.0.0-cancels-a-run-whose-endpoint-was-switched-off-during-a-wait",
  "1.0.0-ends-a-run-that-the-database-does-not-hold-as-unknown-and-se",
  "1.0.0-goes-on-with-attempt-2-a-minute-after-the-end-of-attempt-1-a",
  "1.0.0-keeps-to-the-schedule-whatever-retry-after-the-receiver-name",
  "1.0.0-never-posts-an-attempt-again-that-could-not-be-recorded-and-",
  "1.0.0-reschedules-a-retry-while-its-endpoint-has-no-slot-and-keeps",
  "1.0.0-resumes-from-the-record-of-an-attempt-that-temporal-never-he",
  "1.0.0-signs-with-the-secret-and-sends-to-the-url-of-the-moment-als",
  "1.0.0-starts-nothing-for-a-manual-retry-that-is-asked-for-while-a-",
  "1.0.0-stops-at-the-first-success",
];

let code: string;
beforeAll(async () => {
  code = await bundledCode();
});

it("has a test for every recorded history", () => {
  const files = readdirSync(fileURLToPath(HISTORIES));
  expect(files.toSorted()).toEqual(NAMES.map((name) => `${name}.pb`));
});

it.each(NAMES)("shows no path, stack trace or address of a machine: %s", (name) => {
  const text = readFileSync(new URL(`${name}.pb`, HISTORIES)).toString("latin1");
  expect(text).not.toMatch(
    /\/(?:home|root|tmp|usr|work|Users)\/|\.[cm]?[jt]s:\d|\bat \S+ \(|127\.0\.0\.1|https?:/,
  );
});

it.each(NAMES)("replays %s without a difference", async (name) => {
  const bytes = readFileSync(new URL(`${name}.pb`, HISTORIES));
  const history = temporal.api.history.v1.History.decode(bytes);
  await Worker.runReplayHistory({ workflowBundle: { code } }, history, name);
});
