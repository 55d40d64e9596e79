import { setTimeout as wait } from "node:timers/promises";
import type { Code } from "@connectrpc/connect";
import { untilAcknowledged } from "../../delivery/crash/harness-repeat.ts";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";
import type { Party } from "../../delivery/crash/harness-writers.ts";
import { microsOf } from "./harness-feed.ts";
import { recordWriters, type Shown, type WrittenRecord } from "./harness-records.ts";

/** The writers' knowledge after their stop. */
export type Written = {
  /** By account id. */
  readonly records: ReadonlyMap<string, readonly WrittenRecord[]>;
  /** The failures of each call before its answer. */
  readonly calls: readonly { readonly failures: readonly Code[] }[];
  /** Answers that differed when a repeated call was made once more. */
  readonly differing: readonly string[];
};

/**
 * Runs writers until they are stopped, half of them for the first account. `pauseMs` is their pause between two
 * records.
 */
export function startWriting(
  stack: CrashStack,
  { accountIds }: Party,
  writers: number,
  pauseMs?: number,
) {
  const accountsOf = Array.from({ length: writers }, (_, writer) => accountOf(writer, accountIds));
  const records = new Map(accountsOf.map((id): [string, WrittenRecord[]] => [id, []]));
  const differing: string[] = [];
  let inFlight = 0;
  const calls: Written["calls"][number][] = [];
  let isStopped = false;
  let isOver = false;

  async function ask<Answer extends Shown>(call: () => Promise<Answer>): Promise<Answer> {
    const counted = async () => {
      inFlight += 1;
      return call().finally(() => {
        inFlight -= 1;
      });
    };
    const { answer, failures } = await untilAcknowledged(counted);
    calls.push({ failures });
    if (failures.length > 0) {
      const again = await untilAcknowledged(counted);
      const [before, after] = [nameOf(answer), nameOf(again.answer)];
      if (before !== after) differing.push(`${before}, then ${after}`);
    }
    return answer;
  }

  const kinds = recordWriters(stack, ask);
  async function write(accountId: string, writer: number): Promise<void> {
    for (let next = writer; !isStopped; next++) {
      const record = await kinds[next % kinds.length]?.(accountId);
      if (record !== undefined) records.get(accountId)?.push(record);
      if (pauseMs !== undefined) await wait(pauseMs);
    }
  }

  const all = Promise.all(accountsOf.map(write));
  return {
    /** The number of answered calls. */
    answered: () => calls.length,
    /** The number of calls without an answer yet. */
    inFlight: () => inFlight,
    /** Whether all writers have ended. */
    isOver: () => isOver,
    /** Lets each writer finish its current record. */
    stop() {
      isStopped = true;
    },
    /** Everything that was written. Rejects if a call was refused. */
    written: all
      .then((): Written => ({ records, calls, differing }))
      .finally(() => {
        isOver = true;
      }),
  };
}

/** Every second writer gets the first account. The others share the rest. */
function accountOf(writer: number, [first = "", ...others]: readonly string[]): string {
  return writer % 2 === 0 ? first : (others[Math.floor(writer / 2) % others.length] ?? first);
}

function nameOf({ recordId, recordedAt }: Shown): string {
  return `${recordId} recorded at ${microsOf(recordedAt)}`;
}
