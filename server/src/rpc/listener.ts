import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Connections, NodeRequest } from "./connections.ts";
import { createGoodbye, type Goodbye } from "./goodbye.ts";
import { createHttpServer, type ServerOptions } from "./http-server.ts";
import { createRoundRobin } from "./round-robin.ts";
import { closeUnlessRead } from "./unread-body.ts";

/** The response of a request, in either version of HTTP. */
export type NodeResponse = ServerResponse | Http2ServerResponse;
type Handler = (request: NodeRequest, response: NodeResponse) => void;

export type Listener = {
  readonly port: number;
  /** Still serves, but tells each connection to close, with its next answer. */
  drain(): void;
  /** Accepts no more connections, lets requests in flight end within twenty seconds, and cuts the rest. */
  close(): Promise<void>;
};

/** The most connections that wait in the kernel to be accepted. Beyond it, a client waits a second longer. */
const BACKLOG = 4_096;
/** How long the rest of a refused body may take: enough for trailers. */
const REFUSED_BODY_MS = 1_000;
/**
 * How long requests in flight may take to end: longer than a claim may wait. Only an import, `DeleteAccount` and
 * `RetryFailedDeliveries` without `page_size` can take longer. ADR 0043
 */
const CLOSE_GRACE_MS = 20_000;
/**
 * The most unanswered requests of an HTTP/1.1 connection, of which one is answered at a time. One packet can hold
 * thousands, and node:http reads them all. HTTP/2 has its own limit of streams.
 */
const MAX_PIPELINED = 16;
/** A request that a client sent before it learned of the close arrives within this time. */
const ROUND_TRIP_MS = 1_000;

export async function listen(
  handler: Handler,
  connections: Connections,
  options: ServerOptions & { readonly host: string; readonly port: number },
): Promise<Listener> {
  const goodbye = createGoodbye();
  const onRequest = requestListener(handler, connections, goodbye);
  const { server, closeIdle } = createHttpServer(onRequest, goodbye, options);
  server.on("connection", connections.add);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    drain: goodbye.begin,
    async close() {
      goodbye.begin();
      goodbye.tellRest();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closeIdle();
      const timers = [
        setTimeout(() => {
          goodbye.closeSessions();
          connections.cutSilent();
        }, ROUND_TRIP_MS),
        setTimeout(connections.cut, CLOSE_GRACE_MS),
      ];
      await closed;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function requestListener(handler: Handler, connections: Connections, goodbye: Goodbye) {
  const unknowns = createRoundRobin();
  const unanswered = new WeakMap<Socket, number>();
  return (request: NodeRequest, response: NodeResponse) => {
    const stream = "stream" in response ? response.stream : undefined;
    if (stream === undefined && isBeyondPipeline(request.socket, response)) return;
    stream?.once("finish", () => dropBody(stream));
    goodbye.addResponse(response);
    const unknown = connections.hasAsked(request);
    if (unknown === undefined) return answer(request, response);
    unknowns.add(unknown, {
      begin() {
        // The client reset the stream while its request waited.
        if (stream?.closed) return false;
        if (stream) connections.begin(stream, unknown);
        answer(request, response);
        return true;
      },
      refuse() {
        if (stream) stream.close(constants.NGHTTP2_REFUSED_STREAM);
        else request.socket.destroy();
      },
    });
  };

  /** Counts a request of HTTP/1.1. Cuts its connection if too many are unanswered. */
  function isBeyondPipeline(socket: Socket, response: NodeResponse): boolean {
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    response.once("close", () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    if (count > MAX_PIPELINED) socket.destroy();
    return count > MAX_PIPELINED;
  }

  function answer(request: NodeRequest, response: NodeResponse): void {
    try {
      handler(request, response);
    } catch {
      // The head names no host, or an invalid one.
      response.statusCode = 400;
      response.end();
    }
  }
}

/**
 * Drops the rest of a refused body, because the refusal may be sent before the body is read. Does not wait for it long.
 */
function dropBody(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  stream.resume();
  closeUnlessRead(stream, REFUSED_BODY_MS, constants.NGHTTP2_NO_ERROR);
}
