import type { AttemptKey, Run } from "../common/run.ts";
import type { AttemptOutcome } from "../http/attempt-outcome.ts";

/** An attempt that was made: all of it that a workflow's history holds. */
export type MadeAttempt = {
  readonly outcome: AttemptOutcome;
  /** When it ended, in milliseconds since 1970, by the clock of the process that made it. */
  readonly endedAtMs: number;
};

/** What `deliver` begins with: ids, outcomes and times, never a URL, a secret or a payload. */
export type DeliverInput = Run & {
  /** The attempts that the run has made so far; none unless told. The next one is due at the start. */
  readonly made?: readonly MadeAttempt[];
};

/** What came of asking for an attempt. */
export type AttemptAnswer =
  | ({ readonly kind: "made" } & MadeAttempt & {
        /** When it began, in milliseconds since 1970. */
        readonly startedAtMs: number;
        readonly durationMs: number;
        /** The HTTP status of the answer, if there was one. */
        readonly status?: number | undefined;
        /** Why there was no whole answer, without URL, name or address. */
        readonly detail?: string | undefined;
      })
  /** It was made and recorded before, and the next one is due in `retryInMs`. */
  | ({ readonly kind: "recorded"; readonly retryInMs: number } & MadeAttempt)
  /** The run has ended: nothing is attempted. */
  | { readonly kind: "ended" }
  /** The core does not know the run: nothing is attempted. */
  | { readonly kind: "unknown" }
  /** No slot is free, or the egress proxy failed: it is to be asked for again in `waitMs`. */
  | { readonly kind: "rescheduled"; readonly waitMs: number };

/** An attempt to record. */
export type RecordInput = NextAttempt & {
  readonly made: Extract<AttemptAnswer, { kind: "made" }>;
};

/** An attempt, and the run's before it: a core whose database was restored may have lost their records. */
export type NextAttempt = AttemptKey & { readonly before: readonly MadeAttempt[] };

/** How a run came to its end, and its attempts. */
export type RunResult = {
  /** `ended` by the core, to which it is over; `unknown` to the core. */
  readonly end: "delivered" | "failed" | "ended" | "unknown";
  readonly attempts: readonly MadeAttempt[];
};

/** The activities of `deliver`. */
export type Activities = {
  /** Makes an attempt with the endpoint as it is now, and begins to record it. Fails when the core is out of reach. */
  attempt(input: NextAttempt): Promise<AttemptAnswer>;
  /** Makes sure that a made attempt is recorded; a second record of it changes nothing. Fails when it is not. */
  record(input: RecordInput): Promise<void>;
};

/** What the query `progress` answers. */
export type Progress = {
  /** The attempts so far, in order. */
  readonly attempts: readonly MadeAttempt[];
  /** When the next one is due, or was when it is in flight or the run has ended; in ISO 8601. */
  readonly nextDueAt: string;
};

/** The name under which the workflow is started. */
export const DELIVER = "deliver";
/** The name of the query for its progress. */
export const PROGRESS = "progress";

/** Returns the id of the one workflow of a run: a second start of it changes nothing. */
export function deliverWorkflowId({ deliveryId, run }: Run): string {
  return `delivery-${deliveryId}-${run}`;
}
