import { statusFromError } from "../verification-error.ts";

/** The statuses that a receiver answers. */
export type AnswerStatus = 204 | 400 | 413 | 500 | 503;

/** Why a delivery was not answered 204. */
export interface Problem {
  /** The answered status. The sender retries only after 500 and 503. */
  readonly status: Exclude<AnswerStatus, 204>;
  readonly error: unknown;
}

/** Thrown for a body over the limit. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** Thrown for `in_progress` and `claim_lost`: the work of the other delivery may still fail. */
export class InProgressError extends Error {
  override readonly name = "InProgressError";
}

/** Returns an error with the status to answer. */
export function problemFromError(error: unknown): Problem {
  if (error instanceof BodyTooLargeError) return { status: 413, error };
  if (error instanceof InProgressError) return { status: 503, error };
  return { status: statusFromError(error), error };
}
