import type { StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { fromServiceKey } from "../admission/caller.ts";

/**
 * Returns the trace that a call over a wire names, if an internal service made the call. Other callers must not decide
 * what is sampled. Calls from inside the process already run in their trace.
 */
export function traceparentOf({
  header,
  contextValues,
}: Pick<UnaryRequest | StreamRequest, "header" | "contextValues">): string | undefined {
  if (!contextValues.get(fromServiceKey)) return undefined;
  return header.get("traceparent") ?? undefined;
}
