import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Connections, NodeRequest } from "./connections.ts";
import { createGoodbye, type Goodbye } from "./goodbye.ts";
import { createHttpServer, type ServerOptions } from "./http-server.ts";
import { createRoundRobin } from "./round-robin.ts";
import { closeUnlessRead } from "./unread-body.ts";

/** What a request is answered with, in either version of HTTP. */
export type NodeResponse = ServerResponse | Http2ServerResponse;
type Handler = (request: NodeRequest, response: NodeResponse) => void;

/** A port that is open. */
export type Listener = {
  readonly port: number;
  /** Goes on as before, but tells each connection with its next answer to close. */
  drain(): void;
  /** Takes no more connections, lets what is in flight end within twenty seconds, and cuts what is left. */
  close(): Promise<void>;
};

/** Connections that the kernel keeps until they are accepted: over it others' wait a second. */
const BACKLOG = 4_096;
/** What trailers take. */
const REFUSED_BODY_MS = 1_000;
/** More than a call may wait for something to do, which is the longest there is but for imports. */
const CLOSE_GRACE_MS = 20_000;
/** What was sent before the other side heard that it shall close arrives within this. */
const ROUND_TRIP_MS = 1_000;

/** Opens a port for the requests that a handler answers. */
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
  return (request: NodeRequest, response: NodeResponse) => {
    const stream = "stream" in response ? response.stream : undefined;
    stream?.once("finish", () => dropBody(stream));
    goodbye.addResponse(response);
    const unknown = connections.hasAsked(request);
    if (unknown === undefined) return answer(request, response);
    // What a flood has reset by then costs nothing more.
    unknowns.add(unknown, () => {
      if (stream?.closed) return false;
      answer(request, response);
      return true;
    });
  };

  function answer(request: NodeRequest, response: NodeResponse): void {
    try {
      handler(request, response);
    } catch {
      // A head that names no host, or none that can be one.
      response.statusCode = 400;
      response.end();
    }
  }
}

/** An answer can come before the body was read: a refusal. What still comes is dropped, and not waited for long. */
function dropBody(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  stream.resume();
  closeUnlessRead(stream, REFUSED_BODY_MS, constants.NGHTTP2_NO_ERROR);
}
