import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  type Interceptor,
  type StreamRequest,
  type Transport,
  type UnaryRequest,
} from "@connectrpc/connect";
import { inProcessKey } from "../admission/caller.ts";
import { createDeadline } from "./deadline.ts";
import { callLocalStream } from "./local-stream.ts";
import { setRateLimit } from "./rate-limit-headers.ts";
import type { RegisteredService } from "./registered-service.ts";
import { createUnaryHandlers, messageFrom } from "./unary-handlers.ts";

/**
 * Creates a transport that calls the services as functions, through the same interceptors as the wire and without
 * serialization. It carries unary and server-streaming calls.
 */
export function createLocalTransport(
  services: readonly RegisteredService[],
  interceptors: readonly Interceptor[],
): Transport {
  const handlers = createUnaryHandlers(services, interceptors, "local");

  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const handler = handlers.get(method);
      if (handler === undefined) throw new ConnectError(method.name, Code.Unimplemented);
      const deadline = createDeadline(timeoutMs);
      signal?.addEventListener("abort", deadline.cancel, { once: true });
      if (signal?.aborted) deadline.cancel();
      const request: UnaryRequest = {
        stream: false,
        service: method.parent,
        method,
        requestMethod: "POST",
        url: `local:///${method.parent.typeName}/${method.name}`,
        signal: deadline.signal,
        header: new Headers(header),
        contextValues: trusted(contextValues),
        message: messageFrom(method.input, input),
      };
      try {
        // The handler is registered for this method, so its output is the method's.
        return (await Promise.race([handler(request), deadline.expired])) as never;
      } catch (error) {
        const isLate = error instanceof ConnectError && error.code === Code.DeadlineExceeded;
        // The interceptors have not seen this error and set no headers, but the call may have been counted.
        if (isLate) setRateLimit(error.metadata, request.contextValues);
        throw error;
      } finally {
        deadline.clear();
        signal?.removeEventListener("abort", deadline.cancel);
      }
    },
    async stream(method, signal, _timeoutMs, header, input, contextValues) {
      const name = method.parent.typeName;
      const registered = services.find(({ service }) => service.typeName === name);
      if (registered === undefined || method.methodKind !== "server_streaming") {
        throw new ConnectError(method.name, Code.Unimplemented);
      }
      const request: StreamRequest = {
        stream: true,
        service: method.parent,
        method,
        requestMethod: "POST",
        url: `local:///${name}/${method.name}`,
        signal: signal ?? new AbortController().signal,
        header: new Headers(header),
        contextValues: trusted(contextValues),
        message: input as StreamRequest["message"],
      };
      return (await callLocalStream(registered, interceptors, request)) as never;
    },
  };
}

function trusted(values: ContextValues = createContextValues()): ContextValues {
  return values.set(inProcessKey, true);
}
