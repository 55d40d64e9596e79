import { setTimeout as wait } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { expect } from "vitest";
import { expectTold, expectWritten } from "../../delivery/crash/harness-outcome.ts";
import { type CrashStack, SETTLE_MS } from "../../delivery/crash/harness-stack.ts";
import {
  createParty,
  type Party,
  startWriting,
  type Written,
} from "../../delivery/crash/harness-writers.ts";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";

/** The accounts of writers, and what the writers know after they have stopped. */
export type LoadedRun = { readonly party: Party; readonly written: Written };

/** The number of accounts: enough that each of four shards has some of them. */
const ACCOUNTS = 40;
const WRITERS = 12;
const PAUSE_MS = 50;
const ANSWER_TIME = { timeout: SETTLE_MS, interval: 50 };
/** How many calls are answered before the first step and after the last. */
const CALLS_AROUND = 200;

/** Runs steps in order while writers write and their events are delivered. */
export async function runUnderLoad(stack: CrashStack, steps: readonly (() => Promise<unknown>)[]) {
  const party = await createParty(stack, ACCOUNTS);
  stack.receiver.behaviour = answer(200);
  const writing = startWriting(stack, party, WRITERS, () => wait(PAUSE_MS));
  const answerMore = async () => {
    const enough = writing.answered() + CALLS_AROUND;
    await expect.poll(writing.answered, ANSWER_TIME).toBeGreaterThanOrEqual(enough);
  };
  const work = async () => {
    for (const step of [answerMore, ...steps, answerMore]) await step();
  };
  try {
    // Fails as soon as a call is refused, because `written` then rejects.
    await Promise.race([work(), writing.written]);
  } finally {
    writing.stop();
  }
  return { party, written: await writing.written };
}

/** Checks that every acknowledged write exists once and that its event was delivered once. */
export async function expectWrittenAndTold(stack: CrashStack, { party, written }: LoadedRun) {
  await expectWritten(stack, written);
  await expectTold(stack, party, written);
}

/** Checks that each call without an immediate answer got `unavailable`, or waited until its deadline. */
export function expectOnlyUnavailable({ written }: LoadedRun): void {
  const codes = new Set(written.failures);
  for (const code of [Code.Unavailable, Code.DeadlineExceeded]) codes.delete(code);
  expect([...codes].map((code) => Code[code])).toEqual([]);
}
