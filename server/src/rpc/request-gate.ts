import type { HandlerContext, Interceptor, UnaryRequest } from "@connectrpc/connect";
import { callerKey, fromServiceKey, keepConnectionKey } from "../admission/caller.ts";
import type { Authenticate, Call } from "./authenticate.ts";

/** Checks a call before a byte of its body is read. */
export type Gate = (
  head: Pick<HandlerContext, "service" | "method" | "requestHeader" | "signal" | "values">,
) => Promise<void>;

/** These interceptors need nothing of a message, which can lack anything. */
const NOT_READ = {};

/**
 * Creates what a call of the wire meets before a byte of its body is read. A refusal goes through the
 * `interceptors` that those of services go through, the outermost first: it is logged and worded as they are.
 */
export function createRequestGate(
  authenticate: Authenticate,
  interceptors: readonly Interceptor[],
): Gate {
  return async ({ service, method, requestHeader: header, signal, values: contextValues }) => {
    const call: Call = { service, method, header, signal, contextValues };
    try {
      await authenticate(call);
    } catch (error) {
      const refuse = interceptors.reduceRight<ReturnType<Interceptor>>(
        (next, interceptor) => interceptor(next),
        () => Promise.reject(error),
      );
      await refuse({ ...call, stream: false, message: NOT_READ } as UnaryRequest);
    } finally {
      // A gateway is known by its credential, whatever its client shows.
      const isKnown = contextValues.get(callerKey) || contextValues.get(fromServiceKey);
      if (isKnown) contextValues.get(keepConnectionKey)();
    }
  };
}
