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
import { startWriting, type Written } from "../../write/crash/harness-writing.ts";

/** What is known of a run when its writers have stopped. */
export type LoadedRun = { readonly party: Party; readonly written: Written };

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
  steps: readonly (() => Promise<unknown>)[],
): Promise<LoadedRun> {
  const party = await createParty(stack, ACCOUNTS);
  stack.receiver.behaviour = answer(200);
  const writing = startWriting(stack, party, WRITERS, PAUSE_MS);
  const goOn = async () => {
    const enough = writing.answered() + ANSWERED_APART;
    await expect.poll(writing.answered, ANSWERED).toBeGreaterThanOrEqual(enough);
  };
  const work = async () => {
    for (const step of [goOn, ...steps, goOn]) await step();
  };
  try {
    // A call that is refused ends the writing before it is stopped.
    await Promise.race([work(), writing.written]);
  } finally {
    writing.stop();
  }
  return { party, written: await writing.written };
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
