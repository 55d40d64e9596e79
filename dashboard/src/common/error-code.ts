import { ErrorInfoSchema, type Limits } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { texts } from "../texts.ts";

/** Returns the code of docs/errors.md that a failed call carries; `undefined` when it never reached the service. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  return error.findDetails(ErrorInfoSchema)[0]?.code;
}

/** Says what happened and what to do; of a limit also which, where limits are known. */
export function errorText(error: unknown, limits: Limits | undefined): string {
  const code = errorCode(error);
  const limit = code === undefined ? undefined : texts.limits[code];
  if (limit && limits) return limit(limits);
  if (code !== undefined) return texts.errors[code] ?? texts.unknownError;
  return isConnectionLost(error) ? texts.connectionError : texts.unknownError;
}

/** Tells whether a call may succeed when it is made again as it is. */
export function isPassing(error: unknown): boolean {
  return isConnectionLost(error) || errorCode(error) === "temporarily_unavailable";
}

function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof ConnectError) || errorCode(error) !== undefined) return false;
  // A fetch that fails has no status of its own; a proxy's answer has one of the others.
  return [Code.Unknown, Code.Unavailable, Code.DeadlineExceeded, Code.Internal].includes(
    error.code,
  );
}
