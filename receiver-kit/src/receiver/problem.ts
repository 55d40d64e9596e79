import { VerificationError } from "../verification-error.ts";

/** Every status that a receiver answers. */
export type AnswerStatus = 204 | 400 | 413 | 500 | 503;

/** Why a delivery was not answered 204. */
export interface Problem {
  /** What the sender was answered: it tries again after 500 and 503 only. */
  readonly status: Exclude<AnswerStatus, 204>;
  readonly error: unknown;
}

/** Thrown when a body is over the limit. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** Another delivery of the event is at it, and may still fail. */
export class InProgressError extends Error {
  override readonly name = "InProgressError";
}

/** Finds what an error is answered with. */
export function problemFromError(error: unknown): Problem {
  if (error instanceof BodyTooLargeError) return { status: 413, error };
  if (error instanceof InProgressError) return { status: 503, error };
  if (!(error instanceof VerificationError)) return { status: 500, error };
  // These two are the receiver's own faults: the sender shall try again when they are mended.
  const isOwnFault = error.reason === "unusable_secret" || error.reason === "body_not_raw";
  return { status: isOwnFault ? 500 : 400, error };
}
