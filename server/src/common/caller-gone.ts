import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Throws if the caller has left, or its deadline has passed. A caller may reset its call with any code. That code says
 * nothing about the core, so this throws Canceled instead.
 */
export function throwIfGone({ aborted, reason }: AbortSignal): void {
  if (!aborted) return;
  if (ConnectError.from(reason).code === Code.DeadlineExceeded) throw reason;
  throw new ConnectError("the caller went away", Code.Canceled);
}
