import { ErrorInfoSchema, type Limits } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { texts } from "../texts.ts";

/** The network or the core's database lost the answer to a change. The change may have been made. */
export class AnswerLostError extends Error {
  override readonly name = "AnswerLostError";
}

/** Returns the code of a failed call (docs/errors.md). Returns `undefined` if the call did not reach the service. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  return error.findDetails(ErrorInfoSchema)[0]?.code;
}

/**
 * Returns a text that says what happened and what to do. If a limit was reached and `limits` is known, the text names
 * the limit's value.
 */
export function errorText(error: unknown, limits: Limits | undefined): string {
  if (error instanceof AnswerLostError) return texts.answerLost;
  const code = errorCode(error);
  const limit = code === undefined ? undefined : texts.limits[code];
  if (limit && limits) return limit(limits);
  if (code !== undefined) return texts.errors[code] ?? texts.unknownError;
  return isConnectionLost(error) ? texts.connectionError : texts.unknownError;
}

/** Returns whether the same call may succeed if it is made again. */
export function isPassing(error: unknown): boolean {
  return isConnectionLost(error) || errorCode(error) === "temporarily_unavailable";
}

/** Returns the error to show after a failed change. If the answer was lost, the change may have been made. */
export function changeError(error: unknown): unknown {
  return isPassing(error) ? new AnswerLostError() : error;
}

/** Returns whether a call failed on its way, to the service or back. */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof ConnectError) || errorCode(error) !== undefined) return false;
  // A failed fetch, a timeout and a proxy's 5xx answer have one of these codes.
  return [Code.Unknown, Code.Unavailable, Code.DeadlineExceeded, Code.Internal].includes(
    error.code,
  );
}
