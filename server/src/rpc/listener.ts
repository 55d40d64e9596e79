import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import type { Connections, NodeRequest } from "./connections.ts";
import { createGoodbye, type Goodbye } from "./goodbye.ts";
import { createRoundRobin } from "./round-robin.ts";

/** What a request is answered with, in either version of HTTP. */
export type NodeResponse = http.ServerResponse | http2.Http2ServerResponse;
type Handler = (request: NodeRequest, response: NodeResponse) => void;

/** Files of the core's certificate and key; with a client CA, callers must show a certificate too. */
export type TlsConfig = {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | undefined;
};

/** A port that is open. */
export type Listener = {
  readonly port: number;
  /** Goes on as before, but tells each connection with its next answer to close. */
  drain(): void;
  /** Takes no more connections, lets what is in flight end within twenty seconds, and cuts what is left. */
  close(): Promise<void>;
};

/** What every HTTP/2 connection says first; HTTP/1.1 has no method of that name. */
const HTTP2_PREFACE = "PRI * HTTP/2.0";
/** How long a connection is kept idle: longer than a gateway keeps it, so that none is lost in use. */
const IDLE_CONNECTION_MS = 65_000;
/** Connections that the kernel keeps until they are accepted: over it others' wait a second. */
const BACKLOG = 4_096;
const HEAD_MS = 10_000;
const BODY_MS = 30_000;
/** What trailers take. */
const REFUSED_BODY_MS = 1_000;
const HEAD_BYTES = 16_384;
/** More than a call may wait for something to do, which is the longest there is but for imports. */
const CLOSE_GRACE_MS = 20_000;
/** What was sent before the other side heard that it shall close arrives within this. */
const ROUND_TRIP_MS = 1_000;

const HTTP1: http.ServerOptions = {
  keepAliveTimeout: IDLE_CONNECTION_MS,
  headersTimeout: HEAD_MS,
  requestTimeout: BODY_MS,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: HEAD_BYTES,
};
const HTTP2: http2.ServerOptions = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: HEAD_BYTES, enablePush: false },
  // Who resets streams faster loses the connection (CVE-2023-44487); CONTINUATION frames are counted by nghttp2.
  streamResetBurst: 100,
  streamResetRate: 50,
};

/**
 * Opens one port for gRPC, gRPC-Web and Connect, over HTTP/2 and HTTP/1.1 alike: with TLS the client
 * chooses by ALPN, without it by the first bytes it sends.
 */
export async function listen(
  handler: Handler,
  connections: Connections,
  options: { readonly host: string; readonly port: number; readonly tls: TlsConfig | undefined },
): Promise<Listener> {
  const goodbye = createGoodbye();
  const onRequest = requestListener(handler, connections, goodbye);
  const { server, closeIdle } = options.tls
    ? secureServer(onRequest, goodbye, options.tls)
    : plainServer(onRequest, goodbye);
  server.on("connection", connections.add);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    drain: goodbye.begin,
    async close() {
      goodbye.begin();
      goodbye.tellRest();
      // The close of node:http2 would refuse at once what the other side is sending.
      const closed = new Promise<void>((resolve) =>
        net.Server.prototype.close.call(server, () => resolve()),
      );
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
    stream?.once("finish", () => endSoon(stream));
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
function endSoon(stream: http2.ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  stream.resume();
  const timer = setTimeout(() => stream.close(), REFUSED_BODY_MS);
  stream.once("close", () => clearTimeout(timer));
}

type RequestListener = ReturnType<typeof requestListener>;

/** A server that may be opened, and what closes its connections of HTTP/1.1 that have nothing in flight. */
type Opened = { readonly server: net.Server; readonly closeIdle: () => void };

function secureServer(onRequest: RequestListener, goodbye: Goodbye, tls: TlsConfig): Opened {
  const clientCa = tls.clientCaFile && readFileSync(tls.clientCaFile);
  const server = http2.createSecureServer(
    {
      ...HTTP1,
      ...HTTP2,
      allowHTTP1: true,
      handshakeTimeout: HEAD_MS,
      cert: readFileSync(tls.certFile),
      key: readFileSync(tls.keyFile),
      ...(clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    },
    onRequest,
  );
  server.on("session", (session) => {
    goodbye.addSession(session);
    closeWhenIdle(session);
  });
  // It has it for the sake of HTTP/1.1; its types do not say so.
  const { closeIdleConnections } = server as unknown as http.Server;
  return { server, closeIdle: () => closeIdleConnections.call(server) };
}

function plainServer(onRequest: RequestListener, goodbye: Goodbye): Opened {
  const overHttp1 = http.createServer(HTTP1, onRequest);
  // It is given connections and never listens; this is what its time-outs begin with.
  overHttp1.emit("listening");
  const overHttp2 = http2.createServer(HTTP2, onRequest).on("session", (session) => {
    goodbye.addSession(session);
    closeWhenIdle(session);
  });
  const server = net.createServer((socket) => {
    socket.on("error", () => socket.destroy());
    const chunks: Buffer[] = [];
    socket.on("readable", function read() {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) chunks.push(chunk);
      const start = Buffer.concat(chunks);
      const isHttp2 = HTTP2_PREFACE.startsWith(start.toString("latin1", 0, HTTP2_PREFACE.length));
      if (isHttp2 && start.length < HTTP2_PREFACE.length) {
        if (socket.readableEnded) socket.destroy();
        return;
      }
      socket.off("readable", read);
      socket.unshift(start);
      (isHttp2 ? overHttp2 : overHttp1).emit("connection", socket);
    });
    socket.once("end", () => chunks.length === 0 && socket.destroy());
  });
  server.on("close", () => overHttp1.close());
  return { server, closeIdle: () => overHttp1.closeIdleConnections() };
}

/** Calls that are in flight end as they would; the next ones come on another connection. */
function closeWhenIdle(session: http2.ServerHttp2Session): void {
  session.setTimeout(IDLE_CONNECTION_MS, () => session.close());
}
