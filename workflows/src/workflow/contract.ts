import type { AttemptKey, Run } from "../common/run.ts";
import type { AttemptOutcome } from "../http/attempt-outcome.ts";

/** A made attempt, as a workflow's input and result hold it. */
export type MadeAttempt = {
  readonly outcome: AttemptOutcome;
  /** When it ended, in milliseconds since 1970, by the clock of the process that made it. */
  readonly endedAtMs: number;
};

/** The input of `deliver`: ids, outcomes and times, never a URL, a secret or a payload. */
export type DeliverInput = Run & {
  /**
   * The attempts that the run has made so far. The next one is due at the start. Absent if the run was claimed for its
   * first attempt: that claim has counted the attempts at its endpoint.
   */
  readonly made?: readonly MadeAttempt[];
};

/** An attempt that the core has recorded. The next one is due in `retryInMs` milliseconds. */
export type RecordedAttempt = MadeAttempt & { readonly retryInMs: number };

/** The result of the activity `attempt`. */
export type AttemptAnswer =
  | ({ readonly kind: "made" } & MadeAttempt & {
        /** When it began, in milliseconds since 1970. */
        readonly startedAtMs: number;
        readonly durationMs: number;
        /** The HTTP status of the answer, if there was one. */
        readonly status?: number | undefined;
        /** Why no status was read, without URL, name or address. */
        readonly detail?: string | undefined;
        /** The milliseconds until the next attempt. */
        readonly retryInMs: number;
      })
  /** The attempt was recorded before. */
  | ({ readonly kind: "recorded" } & RecordedAttempt)
  /** The run has ended. No attempt is made. */
  | { readonly kind: "ended" }
  /** The core does not know the run. No attempt is made. */
  | { readonly kind: "unknown" }
  /** No slot is free, or the egress proxy failed. The workflow asks again in `waitMs`. */
  | { readonly kind: "rescheduled"; readonly waitMs: number };

/** An attempt to record. */
export type RecordInput = NextAttempt & {
  readonly made: Extract<AttemptAnswer, { kind: "made" }>;
};

/** An attempt, and the run's attempts before it: a restored database may lack these. */
export type NextAttempt = AttemptKey & { readonly before: readonly MadeAttempt[] };

/** An attempt to make. `isClaimed` tells whether a claim limits it. Otherwise it takes a slot. */
export type DueAttempt = NextAttempt & { readonly isClaimed: boolean };

/** How a run ended, and its attempts. */
export type RunResult = {
  /** `ended`: the core says that the run is over. `unknown`: the core does not know the run. */
  readonly end: "delivered" | "failed" | "ended" | "unknown";
  readonly attempts: readonly MadeAttempt[];
};

/** The activities of `deliver`. */
export type Activities = {
  /** Makes an attempt with the endpoint's current settings, and begins to record it. Fails when the core is away. */
  attempt(input: DueAttempt): Promise<AttemptAnswer>;
  /**
   * Records a made attempt, or fails. A second call for it changes nothing. If the attempt's failure would end the run,
   * returns the recorded attempt: another worker may have made this attempt too, and its outcome may be recorded
   * instead.
   */
  record(input: RecordInput): Promise<RecordedAttempt | undefined>;
};

/** The answer of the query `progress`. */
export type Progress = {
  /** The attempts so far, in order. */
  readonly attempts: readonly MadeAttempt[];
  /** When the next attempt is due, or was due if it is in flight; in ISO 8601. Of no use once the run has ended. */
  readonly nextDueAt: string;
};

/** The workflow's name. */
export const DELIVER = "deliver";
/** The name of the query for the workflow's progress. */
export const PROGRESS = "progress";

/** Returns the id of the run's workflow. While the workflow is open, a second start with this id changes nothing. */
export function deliverWorkflowId({ deliveryId, run }: Run): string {
  return `delivery-${deliveryId}-${run}`;
}
