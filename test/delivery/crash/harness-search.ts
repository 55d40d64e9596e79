import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect } from "vitest";
import { searchFile, secretBytes } from "../harness-byte-search.ts";
import { type CrashStack, RECEIVER_HOST } from "./harness-stack.ts";
import { type Party, STORED_PATH, STORED_TEXTS } from "./harness-writers.ts";

/** A text that histories contain, and no log. */
const IN_HISTORIES = '"endedAtMs":';
/** Where Temporal stores its state. */
const TEMPORAL_STATE = join("temporal", "state.sqlite");

/** Checks that no secret, payload, URL or name is in Temporal's state, which has all histories, or in any log. */
export async function expectNothingTold(
  stack: CrashStack,
  { secrets }: Party,
  further: readonly string[] = [],
): Promise<void> {
  const needles = [
    ...secrets.flatMap((secret) => [secret, secretBytes(secret)]),
    ...Object.values(STORED_TEXTS),
    ...[STORED_PATH, RECEIVER_HOST, stack.credential, new URL(stack.database.address()).password],
    ...["donation.created", "donor_name", "amount_cents", "act_svc_", "act_live_", "whsec_"],
    ...further,
  ];
  let histories = 0;
  for (const file of await searchedFiles(stack)) {
    const found = await searchFile(file, [...needles, IN_HISTORIES]);
    if (found.delete(IN_HISTORIES)) histories += 1;
    expect([...found], file).toEqual([]);
  }
  await expectOwnLogsOnly(stack);
  // Proves that the search reads histories.
  expect(histories).toBeGreaterThan(0);
}

/** The core's log lines of an unexpected failure, and of a run that neither the outbox nor Temporal had. */
const NEVER_LOGGED = /"call failed"|"overdue deliveries are resumed"/;

/** Checks that every log line is the product's own, and that the core logged no failure and no orphaned run. */
export async function expectOwnLogsOnly({ folder }: CrashStack): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".log"));
  const core = await readFile(join(folder, "core.log"), "utf8");
  expect(core.split("\n").filter((line) => NEVER_LOGGED.test(line))).toEqual([]);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const lines = (await readFile(join(folder, name), "utf8")).split("\n");
    expect(
      lines.filter((line) => line !== "" && !line.startsWith('{"level"')).slice(0, 3),
      name,
    ).toEqual([]);
  }
}

/** Lists all logs and the files of Temporal's state, including what its main file does not have yet. */
async function searchedFiles({ folder }: CrashStack): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((name) => name.endsWith(".log") || name.startsWith(TEMPORAL_STATE))
    .filter((name) => !name.startsWith(join("database", "data")))
    .map((name) => join(folder, name));
}
