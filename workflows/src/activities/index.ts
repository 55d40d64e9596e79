import type { DispatchService } from "@activity/proto";
import type { Client } from "@connectrpc/connect";
import type { Sequence } from "../contract.ts";
import type { Sender } from "../http/sender.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import type { AttemptPlaces } from "./attempt-places.ts";

/** What activities need. */
export type ActivityDependencies = {
  readonly dispatch: Client<typeof DispatchService>;
  readonly sender: Sender;
  /** Where repeated attempts are made; first ones are limited where they are claimed. */
  readonly places: AttemptPlaces;
  /** Milliseconds since 1970, for the attempt's timestamp. */
  readonly nowMs: () => number;
};

/** One attempt of a sequence. */
export type AttemptInput = Sequence & { readonly attempt: number };
/** What came of it. */
export type AttemptAnswer = {
  /** Whether another attempt follows. */
  readonly isRetried: boolean;
  /** Set when the attempt was not made, because its endpoint is busy: it is to be asked for again then. */
  readonly askAgainInMs?: number;
};
/** A sequence that is tried again, and how long ago its attempt ended. */
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
      const attempts = sequences.map(async ({ deliveryId, sequence }) => {
        const input = { deliveryId, sequence, attempt: 1 };
        const { isRetried } = await attemptDelivery(dependencies, input);
        return { deliveryId, sequence, isRetried, endedMs: performance.now() };
      });
      // Each records its own end, so that one that fails here holds up none of the others.
      const settled = await Promise.allSettled(attempts);
      const failed = settled.find((result) => result.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      const now = performance.now();
      return settled.flatMap((result) => {
        if (result.status === "rejected" || !result.value.isRetried) return [];
        const { deliveryId, sequence, endedMs } = result.value;
        return [{ deliveryId, sequence, sinceEndMs: Math.round(now - endedMs) }];
      });
    },
  };
}
