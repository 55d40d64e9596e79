/** Where a dispatcher of the tests fails, once: `FAULT_POINT` of `run-faulty.ts`. */
export const FaultPoint = {
  /** Killed when an attempt was made and the core was told nothing. */
  MadeNotRecorded: "made-not-recorded",
  /** Lives, and is told that a record failed, which the core has committed. */
  RecordAnswerLost: "record-answer-lost",
  /** Killed when the core has committed a record, whose run must be retried. */
  RecordedThenKilled: "recorded-then-killed",
  /** Killed when it has claimed runs that must be retried, and begun no workflow. */
  ClaimedNotBegun: "claimed-not-begun",
  /** Killed while the begin of a workflow is on its way or its answer is: Temporal may have it or not. */
  BeginUnanswered: "begin-unanswered",
  /** Killed when Temporal has acknowledged workflows and the core was told nothing. */
  BegunNotCompleted: "begun-not-completed",
  /** Lives, and is told that the completion failed, which the core has committed. */
  CompletionAnswerLost: "completion-answer-lost",
  /** Killed when the core has committed the completion. */
  CompletedThenKilled: "completed-then-killed",
} as const;
export type FaultPoint = (typeof FaultPoint)[keyof typeof FaultPoint];
