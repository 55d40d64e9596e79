import { Code } from "@connectrpc/connect";
import { expect } from "vitest";
import { SIZE } from "../../delivery/crash/harness-size.ts";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";
import { createParty, type Party } from "../../delivery/crash/harness-writers.ts";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { expectTold, expectWritten } from "../../write/crash/harness-outcome.ts";
import { startWriting, type Written } from "../../write/crash/harness-writing.ts";

/** What is known of a run when its writers have stopped. */
export type LoadedRun = { readonly party: Party; readonly written: Written };

/** Enough that each of four shards has some. */
const ACCOUNTS = 40;
const WRITERS = 12;
const PAUSE_MS = 50;
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

/** Holds that nothing that was acknowledged is lost, there twice, untold or told twice. */
export async function expectWrittenAndTold(
  stack: CrashStack,
  { party, written }: LoadedRun,
): Promise<void> {
  await expectWritten(stack, written);
  await expectTold(stack, party, written);
}

/** Holds that every call which was not answered at once was told to come again later, or waited for as long as it would. */
export function expectOnlyUnavailable({ written: { calls } }: LoadedRun): void {
  const codes = new Set(calls.flatMap(({ failures }) => failures));
  for (const code of [Code.Unavailable, Code.DeadlineExceeded]) codes.delete(code);
  expect([...codes].map((code) => Code[code])).toEqual([]);
}
