import type { HandlerContext, Interceptor, UnaryRequest } from "@connectrpc/connect";
import {
  authenticatedAtKey,
  callerKey,
  keepConnectionKey,
  startedAtKey,
} from "../admission/caller.ts";
import { throwIfGone } from "../common/caller-gone.ts";
import type { Authenticate, Call } from "./authenticate.ts";

/** Checks a call before any of its body is read. */
export type Gate = (
  head: Pick<HandlerContext, "service" | "method" | "requestHeader" | "signal" | "values">,
) => Promise<void>;

/** Replaces the message, which is not read. The interceptors of a refusal do not need it. */
const NOT_READ = {};

/**
 * Creates the gate of calls over a wire. A refusal passes the same `interceptors` as a service's error, the outermost
 * first. It is therefore logged and worded in the same way. If the deadline passes or the caller leaves meanwhile, the
 * gate refuses the call too, because no later step would log it.
 */
export function createRequestGate(
  authenticate: Authenticate,
  interceptors: readonly Interceptor[],
): Gate {
  return async ({ service, method, requestHeader: header, signal, values: contextValues }) => {
    const call: Call = { service, method, header, signal, contextValues };
    contextValues.set(startedAtKey, performance.now());
    try {
      await authenticate(call);
      throwIfGone(signal);
      contextValues.set(authenticatedAtKey, performance.now());
    } catch (error) {
      const refuse = interceptors.reduceRight<ReturnType<Interceptor>>(
        (next, interceptor) => interceptor(next),
        () => Promise.reject(error),
      );
      await refuse({ ...call, stream: false, message: NOT_READ } as UnaryRequest);
    } finally {
      if (contextValues.get(callerKey)) contextValues.get(keepConnectionKey)();
    }
  };
}
