import type { Log } from "@activity/runtime/log";
import type { Metrics } from "@activity/runtime/metrics";
import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type UnaryRequest,
} from "@connectrpc/connect";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { startedAtKey } from "../admission/caller.ts";
import { requestIdOf } from "./request-id.ts";

/**
 * Logs and measures each call whose message can be read: its name, result and duration. The duration includes
 * authentication, so that it shows a slow database or limiter. A stream is logged and measured at its end.
 * The log also has the request id. `nowMs` is the clock of `startedAtKey`.
 */
export function createRequestLog(log: Log, metrics: Metrics, nowMs: () => number): Interceptor {
  const countCall = metrics.histogram(
    "activity_core_call_duration_seconds",
    "How long each call of the core took, from authentication until its answer began or its stream ended.",
    ["call", "code"],
  );
  return (next) => async (request) => {
    const startedMs = request.contextValues.get(startedAtKey) ?? nowMs();
    const write = (error?: unknown) => {
      const call = `${request.service.typeName}/${request.method.name}`;
      const ms = nowMs() - startedMs;
      const code = codeOf(request, ms, error);
      countCall(ms / 1000, call, code);
      log.info("call", {
        ...{ call, requestId: requestIdOf(request), code },
        ms: Math.round(ms * 10) / 10,
      });
    };
    try {
      const response = await next(request);
      if (response.stream) return { ...response, message: writtenAtEnd(response.message, write) };
      write();
      return response;
    } catch (error) {
      write(error);
      throw error;
    }
  };
}

async function* writtenAtEnd<T>(messages: AsyncIterable<T>, write: (error?: unknown) => void) {
  let failure: unknown;
  try {
    yield* messages;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    // Runs also if the reader leaves early.
    write(failure);
  }
}

/** Returns the code to log. A call may still answer or fail after its caller's deadline or cancellation. */
function codeOf(
  { signal, header }: UnaryRequest | StreamRequest,
  ms: number,
  error: unknown,
): string {
  const code = error === undefined ? undefined : ConnectError.from(error).code;
  const isOfCaller = signal.aborted && (code === undefined || code === Code.Canceled);
  if (!isOfCaller) return code === undefined ? "ok" : Code[code];
  // Checks the duration too: most callers close their request at their deadline, just before the core's timer ends.
  const isLate =
    ConnectError.from(signal.reason).code === Code.DeadlineExceeded || ms >= timeoutMsIn(header);
  // Ignores any other code: a caller may reset its request with any code, so the code says nothing of the core.
  return isLate ? "DeadlineExceeded" : "Canceled";
}

function timeoutMsIn(header: Headers): number {
  const anyMs = Number.MAX_SAFE_INTEGER;
  const { timeoutMs } = header.has("grpc-timeout")
    ? parseGrpcTimeout(header.get("grpc-timeout"), anyMs)
    : parseConnectTimeout(header.get("connect-timeout-ms"), anyMs);
  return timeoutMs ?? anyMs;
}
