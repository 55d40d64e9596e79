import { inSpan } from "@activity/runtime/traces";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { traceparentOf } from "./traceparent.ts";

/**
 * What dispatchers and probes ask again and again begins no trace: a claim that waits for something to do is no
 * request of anybody.
 */
const BEGINS_NONE = /^(activity\.dispatch|grpc)\./;

/** Makes a span of each call until its answer begins: part of its caller's trace, or the beginning of one. */
export function createCallSpans(): Interceptor {
  return (next) => (request) => {
    const { typeName } = request.service;
    const { name } = request.method;
    return inSpan(
      `${typeName}/${name}`,
      {
        kind: "server",
        parent: traceparentOf(request),
        begins: !BEGINS_NONE.test(typeName),
        attributes: { "rpc.system": "connect_rpc", "rpc.service": typeName, "rpc.method": name },
      },
      async (span) => {
        try {
          return await next(request);
        } catch (error) {
          span.set({ "rpc.connect_rpc.error_code": Code[ConnectError.from(error).code] });
          throw error;
        }
      },
    );
  };
}
