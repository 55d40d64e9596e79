/** Where a relay of the tests fails, once: `FAULT_POINT` of `run-relay.ts`. */
export const FaultPoint = {
  /** Killed when Temporal has acknowledged the start and the core was told nothing. */
  StartedNotMarked: "started-not-marked",
  /** Killed while the start is on its way or its answer is: Temporal may have it or not. */
  StartUnanswered: "start-unanswered",
  /** Lives, and is told that the start failed, which Temporal has committed. */
  StartAnswerLost: "start-answer-lost",
  /** Killed when the core has committed the mark, before the relay learned of it. */
  MarkedThenKilled: "marked-then-killed",
  /** Lives, and is told that the mark failed, which the core has committed. */
  MarkAnswerLost: "mark-answer-lost",
} as const;
export type FaultPoint = (typeof FaultPoint)[keyof typeof FaultPoint];
