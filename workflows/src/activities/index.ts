import type { DispatchService } from "@activity/proto";
import type { Client } from "@connectrpc/connect";
import type { DeliverInput, Sequence } from "../contract.ts";
import type { Sender } from "../http/sender.ts";
import { delayAfterMs } from "../workflows/retry-schedule.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import type { AttemptPlaces } from "./attempt-places.ts";

/** What activities need. */
export type ActivityDependencies = {
  readonly dispatch: Client<typeof DispatchService>;
  readonly sender: Sender;
  /** Where repeated attempts are made; a first one that is made at once is limited by the claim. */
  readonly places: AttemptPlaces;
  readonly scheduleRetry: ScheduleRetry;
  /** Milliseconds since 1970, for the attempt's timestamp. */
  readonly nowMs: () => number;
};

/** Has `deliver` begin at a time of `performance`'s clock; resolves once that is safe with the engine. */
export type ScheduleRetry = (input: DeliverInput, dueAtMs: number) => Promise<void>;

/** One attempt of a sequence. */
export type AttemptInput = Sequence & {
  readonly attempt: number;
  /** How many times the core could not load it so far; 0 unless told. */
  readonly failedLoads?: number;
};
/** What came of it. */
export type AttemptAnswer = {
  /** Whether another attempt follows. */
  readonly isRetried: boolean;
  /** When it was made and recorded before: how long after now the next one is due. */
  readonly retryInMs?: number;
  /**
   * Set when the attempt was not made, because its endpoint is busy or the core could not load it: it is to
   * be asked for again after so long.
   */
  readonly askAgainInMs?: number;
  /** Set when the core could not load it: how many times in all, to be told when it is asked for again. */
  readonly failedLoads?: number;
};
/** A sequence whose retry is not scheduled yet, and how long ago its attempt ended. */
export type RetriedSequence = Sequence & { readonly sinceEndMs: number };

/** The activities that workflows call. */
export type Activities = {
  attemptDelivery(input: AttemptInput): Promise<AttemptAnswer>;
  attemptTogether(sequences: readonly Sequence[]): Promise<RetriedSequence[]>;
};

/** Creates the activities of a worker. */
export function createActivities(dependencies: ActivityDependencies): Activities {
  return {
    attemptDelivery: (input) => attemptDelivery(dependencies, input),

    async attemptTogether(sequences) {
      const attempts = sequences.map((sequence) => attemptFirst(dependencies, sequence));
      // Each records its own end, so that one that fails here holds up none of the others.
      const settled = await Promise.allSettled(attempts);
      const failed = settled.find((result) => result.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      const now = performance.now();
      return settled.flatMap((result) => {
        const left = result.status === "fulfilled" ? result.value : undefined;
        if (left === undefined) return [];
        const { endedMs, ...sequence } = left;
        return [{ ...sequence, sinceEndMs: Math.round(now - endedMs) }];
      });
    },
  };
}

/**
 * Makes a first attempt and schedules the next one, or this one when it was put off; returns a sequence whose
 * retry is left to others.
 */
async function attemptFirst(
  dependencies: ActivityDependencies,
  { deliveryId, sequence }: Sequence,
): Promise<(Sequence & { readonly endedMs: number }) | undefined> {
  const input = { deliveryId, sequence, attempt: 1 };
  const answer = await attemptDelivery(dependencies, input);
  const { isRetried, retryInMs, askAgainInMs, failedLoads = 0 } = answer;
  if (askAgainInMs !== undefined) {
    const askAtMs = performance.now() + askAgainInMs;
    await dependencies.scheduleRetry({ ...input, failedLoads }, askAtMs);
    return undefined;
  }
  const waitMs = delayAfterMs(1);
  if (!isRetried || waitMs === undefined) return undefined;
  const endedMs = performance.now() - (waitMs - (retryInMs ?? waitMs));
  try {
    await dependencies.scheduleRetry({ deliveryId, sequence, attempt: 2 }, endedMs + waitMs);
    return undefined;
  } catch {
    // The engine did not answer: the workflow hands the sequence over by itself when it does.
    return { deliveryId, sequence, endedMs };
  }
}
