import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { temporal } from "@temporalio/proto";
import { expect } from "vitest";

/** Everything a history holds, as text to search in: strings lie in its bytes as they are. */
export function textOf(history: temporal.api.history.v1.IHistory): string {
  return Buffer.from(temporal.api.history.v1.History.encode(history).finish()).toString("latin1");
}

/** The waits of a history, in seconds: before its start, when that was delayed, and of each timer. */
export function waitsOf({ events }: temporal.api.history.v1.IHistory): number[] {
  return (events ?? []).flatMap((event) => {
    const wait =
      event.workflowExecutionStartedEventAttributes?.firstWorkflowTaskBackoff ??
      event.timerStartedEventAttributes?.startToFireTimeout;
    const seconds = wait ? Number(wait.seconds) + (wait.nanos ?? 0) / 1e9 : 0;
    return seconds > 0 ? [seconds] : [];
  });
}

/** Holds the waits of a history to those, each of which may have begun a few seconds before its timer. §6.4 */
export function expectWaits(
  history: temporal.api.history.v1.IHistory,
  seconds: readonly number[],
): void {
  const waits = waitsOf(history);
  expect(waits).toHaveLength(seconds.length);
  for (const [place, wanted] of seconds.entries()) {
    expect(waits[place]).toBeGreaterThan(wanted - 5);
    expect(waits[place]).toBeLessThanOrEqual(wanted);
  }
}

/**
 * With RECORD_HISTORIES=<version> keeps a history for the replay test, under the version and the test's
 * name: done before each release that changes a workflow.
 */
export function recordHistory(history: temporal.api.history.v1.IHistory, part = ""): void {
  const version = process.env.RECORD_HISTORIES;
  if (!version) return;
  const story = `${part} ${expect.getState().currentTestName ?? ""}`.trim();
  const name = story
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/-$/, "")
    .slice(0, 60);
  const file = new URL(`../replay/histories/${version}-${name}.pb`, import.meta.url);
  // Not as JSON: npm gives this SDK two copies of protobufjs, between which its own converter fails.
  writeFileSync(fileURLToPath(file), temporal.api.history.v1.History.encode(history).finish());
}
