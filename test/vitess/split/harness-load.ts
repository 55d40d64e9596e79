import { Code } from "@connectrpc/connect";
import { expect } from "vitest";
import { differingOf, requestsOf, without } from "../../delivery/crash/harness-attempts.ts";
import { expectNothingLost } from "../../delivery/crash/harness-outcome.ts";
import { SIZE } from "../../delivery/crash/harness-size.ts";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";
import { createParty, type Party } from "../../delivery/crash/harness-writers.ts";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { lineOf, readFeed } from "../../write/crash/harness-feed.ts";
import { toldOf } from "../../write/crash/harness-told.ts";
import { startWriting, type Written, type WrittenCall } from "../../write/crash/harness-writing.ts";

/** A part of a run, in milliseconds of the clock of its calls. */
export type Phase = { readonly name: string; readonly beganMs: number; readonly endedMs: number };

/** What is known of a run when its writers have stopped. */
export type LoadedRun = {
  readonly party: Party;
  readonly written: Written;
  readonly phases: readonly Phase[];
  /** When attempts reached the receiver. */
  readonly arrivedMs: readonly number[];
};

/** Enough that each of four shards has some. */
const ACCOUNTS = 40;
const WRITERS = 12;
const PAUSE_MS = 50;
const NONE_AMISS = { lost: [], unknown: [] };
const ANSWERED = { timeout: SIZE.settleMinutes * 60_000, interval: 50 };
/** How many calls are answered before the first step and behind the last one. */
const ANSWERED_APART = 200;

/** Runs steps one after the other while writers write and what they write is delivered. */
export async function runUnderLoad(
  stack: CrashStack,
  steps: readonly { readonly name: string; readonly run: () => Promise<unknown> }[],
): Promise<LoadedRun> {
  const party = await createParty(stack, ACCOUNTS);
  const arrivedMs: number[] = [];
  stack.receiver.behaviour = (...request) => {
    arrivedMs.push(performance.now());
    answer(200)(...request);
  };
  const phases: Phase[] = [];
  const writing = startWriting(stack, party, WRITERS, PAUSE_MS);
  const goOn = async () => {
    const enough = writing.answered() + ANSWERED_APART;
    await expect.poll(writing.answered, ANSWERED).toBeGreaterThanOrEqual(enough);
  };
  const work = async () => {
    for (const { name, run } of [
      { name: "before", run: goOn },
      ...steps,
      { name: "behind it", run: goOn },
    ]) {
      const beganMs = performance.now();
      await run();
      phases.push({ name, beganMs, endedMs: performance.now() });
    }
  };
  try {
    // A call that is refused ends the writing before it is stopped.
    await Promise.race([work(), writing.written]);
  } finally {
    writing.stop();
  }
  return { party, written: await writing.written, phases, arrivedMs };
}

/**
 * Holds that every acknowledged record is in its feed once, as it was answered; that every event of theirs was
 * delivered, and that no attempt was made twice: the dispatcher lives, so it keeps what it made until it is recorded.
 */
export async function expectWrittenAndTold(
  stack: CrashStack,
  { party, written: { records, differing } }: LoadedRun,
): Promise<void> {
  for (const [accountId, written] of records) {
    const feed = (await readFeed(stack, accountId)).map(lineOf);
    const lines = written.map(({ line }) => line);
    expect({ lost: without(lines, feed), unknown: without(feed, lines) }).toEqual(NONE_AMISS);
  }
  expect(differing).toEqual([]);
  const due = [...records.values()].flat().flatMap(({ told }) => told);
  await expectNothingLost(stack, { party, events: due.length, workflows: "retries" });
  const requests = requestsOf(stack, party);
  const told = toldOf(requests);
  expect({ lost: without(due, told), unknown: without(told, due) }).toEqual(NONE_AMISS);
  expect(differingOf(requests)).toEqual([]);
}

/** Holds that every call which was not answered at once was told to come again later, or waited for as long as it would. */
export function expectOnlyUnavailable({ written: { calls } }: LoadedRun): void {
  const codes = new Set(calls.flatMap(({ failures }) => failures));
  for (const code of [Code.Unavailable, Code.DeadlineExceeded]) codes.delete(code);
  expect([...codes].map((code) => Code[code])).toEqual([]);
}

/** Tells how long calls and deliveries paused in each phase, and what calls failed with. */
export function tellPauses(what: string, { written, phases, arrivedMs }: LoadedRun): void {
  const { calls } = written;
  const records = [...written.records.values()].reduce((sum, { length }) => sum + length, 0);
  const answeredMs = calls.map((call) => call.answeredMs).sort((a, b) => a - b);
  const lines = phases.slice(1).map((phase) => {
    const within = calls.filter((call) => isIn(phase, call));
    const waits = within.map((call) => call.answeredMs - call.askedMs);
    return (
      `${phase.name}: ${seconds(phase.endedMs - phase.beganMs)} s; longest wait of a write ` +
      `${seconds(Math.max(0, ...waits))} s, longest time without an answered write ${longestGap(phase, answeredMs)} s, ` +
      `without a delivery ${longestGap(phase, arrivedMs)} s; failed: ${showFailures(within)}`
    );
  });
  process.stderr.write(
    `${what}: ${records} records, ${calls.length} calls, 0 lost; ${arrivedMs.length} deliveries, none twice\n  ` +
      `${lines.join("\n  ")}\n`,
  );
}

const isIn = ({ beganMs, endedMs }: Phase, call: WrittenCall) =>
  call.askedMs < endedMs && call.answeredMs >= beganMs;

/** Seconds between two moments that follow each other, of which a phase has some part. */
function longestGap({ beganMs, endedMs }: Phase, momentsMs: readonly number[]): string {
  const before = momentsMs.findLast((ms) => ms < beganMs) ?? beganMs;
  const after = momentsMs.find((ms) => ms > endedMs) ?? endedMs;
  const moments = [before, ...momentsMs.filter((ms) => ms >= beganMs && ms <= endedMs), after];
  return seconds(Math.max(...moments.slice(1).map((ms, index) => ms - (moments[index] ?? ms))));
}

function showFailures(calls: readonly WrittenCall[]): string {
  const codes = Map.groupBy(
    calls.flatMap(({ failures }) => failures),
    (code) => Code[code],
  );
  return [...codes].map(([code, all]) => `${all.length} ${code}`).join(", ") || "none";
}

const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1);
