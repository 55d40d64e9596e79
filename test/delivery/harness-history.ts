import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { temporal } from "@temporalio/proto";
import { expect } from "vitest";

/** Everything a history holds, as text to search in: strings lie in its bytes as they are. */
export function textOf(history: temporal.api.history.v1.IHistory): string {
  return Buffer.from(temporal.api.history.v1.History.encode(history).finish()).toString("latin1");
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
