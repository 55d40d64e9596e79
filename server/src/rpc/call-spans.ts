import { inSpan } from "@activity/runtime/traces";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { startedAtKey } from "../admission/caller.ts";
import { traceparentOf } from "./traceparent.ts";

/** Services whose calls begin no trace, because dispatchers and probes repeat them without a client's request. */
const BEGINS_NONE = /^(activity\.dispatch|grpc)\./;

/**
 * Creates a span for each call until its answer begins. It includes authentication. The span is part of its caller's
 * trace, or begins one.
 */
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
        startedMs: request.contextValues.get(startedAtKey),
        attributes: { "rpc.system": "connect_rpc", "rpc.service": typeName, "rpc.method": name },
      },
      async (span) => {
        try {
          return await next(request);
        } catch (error) {
          span.set({ "rpc.connect_rpc.error_code": nameOf(ConnectError.from(error).code) });
          throw error;
        }
      },
    );
  };
}

/** Returns OpenTelemetry's name of a code, such as `not_found`. Only `cancelled` differs from Connect's name. */
function nameOf(code: Code): string {
  if (code === Code.Canceled) return "cancelled";
  return Code[code].replace(/\B[A-Z]/g, "_$&").toLowerCase();
}
