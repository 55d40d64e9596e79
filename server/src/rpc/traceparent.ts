import type { StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { fromServiceKey } from "../admission/caller.ts";

/**
 * The trace that a call over a wire says it is part of: the word of internal services only. Anybody else's would decide
 * what is sampled. Calls from inside the process have their trace around them.
 */
export function traceparentOf({
  header,
  contextValues,
}: Pick<UnaryRequest | StreamRequest, "header" | "contextValues">): string | undefined {
  if (!contextValues.get(fromServiceKey)) return undefined;
  return header.get("traceparent") ?? undefined;
}
