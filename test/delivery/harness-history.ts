import { writeFileSync } from "node:fs";
import { temporal } from "@temporalio/proto";
import { expect } from "vitest";

type History = temporal.api.history.v1.IHistory;

/** The waits of a history, in seconds: its delayed start, if any, and each timer. */
export function waitsOf({ events }: History): number[] {
  return (events ?? []).flatMap((event) => {
    const wait =
      event.workflowExecutionStartedEventAttributes?.firstWorkflowTaskBackoff ??
      event.timerStartedEventAttributes?.startToFireTimeout;
    const seconds = wait ? Number(wait.seconds) + (wait.nanos ?? 0) / 1e9 : 0;
    return seconds > 0 ? [seconds] : [];
  });
}

/** Checks the waits of a history. A timer may be up to five seconds shorter: the wait begins before its timer. §6.4 */
export function expectWaits(history: History, seconds: readonly number[]) {
  const waits = waitsOf(history);
  expect(waits).toHaveLength(seconds.length);
  for (const [place, wanted] of seconds.entries()) {
    expect(waits[place]).toBeGreaterThan(wanted - 5);
    expect(waits[place]).toBeLessThanOrEqual(wanted);
  }
}

/**
 * With RECORD_HISTORIES=<version> stores a history for the replay test. Do this before each release that changes a
 * workflow. The file name has the version and the test's name.
 */
export function recordHistory(history: History): void {
  const version = process.env.RECORD_HISTORIES;
  if (!version) return;
  const name = (expect.getState().currentTestName ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/-$/, "")
    .slice(0, 60);
  const file = new URL(`../replay/histories/${version}-${name}.pb`, import.meta.url);
  // Writes no JSON, because npm installs two copies of protobufjs for the SDK, and its JSON converter fails with two.
  writeFileSync(file, temporal.api.history.v1.History.encode(history).finish());
}
