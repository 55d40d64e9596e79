import type { Log } from "@activity/runtime/log";
import type { Metrics } from "@activity/runtime/metrics";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { requestIdOf } from "./request-id.ts";

/**
 * Logs and measures each call whose message can be read: its name, result and duration. The log also has the request
 * id.
 */
export function createRequestLog(log: Log, metrics: Metrics, nowMs: () => number): Interceptor {
  const countCall = metrics.histogram(
    "activity_core_call_duration_seconds",
    "How long each call of the core took until its answer began.",
    ["call", "code"],
  );
  return (next) => async (request) => {
    const startedMs = nowMs();
    const write = (code: string) => {
      const call = `${request.service.typeName}/${request.method.name}`;
      const ms = nowMs() - startedMs;
      countCall(ms / 1000, call, code);
      log.info("call", {
        ...{ call, requestId: requestIdOf(request), code },
        ms: Math.round(ms * 10) / 10,
      });
    };
    try {
      const response = await next(request);
      write("ok");
      return response;
    } catch (error) {
      write(Code[ConnectError.from(error).code]);
      throw error;
    }
  };
}
