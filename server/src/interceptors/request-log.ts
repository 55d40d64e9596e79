import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Log } from "../log.ts";

/** Logs one line a call: its name, the request id its gateway gave it, how it ended and how long it took. */
export function createRequestLog(log: Log, nowMs: () => number): Interceptor {
  return (next) => async (request) => {
    const startedMs = nowMs();
    const write = (code: string) =>
      log.info("call", {
        call: `${request.service.typeName}/${request.method.name}`,
        requestId: request.header.get("x-request-id") ?? undefined,
        code,
        ms: Math.round((nowMs() - startedMs) * 10) / 10,
      });
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
