import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { keepUnsentAnswers } from "@activity/runtime/unsent-answers";
import type { NodeRequest } from "./connections.ts";
import type { Goodbye } from "./goodbye.ts";
import type { NodeResponse } from "./listener.ts";
import { BODY_MS } from "./unread-body.ts";

/** Files of the core's certificate and key; with a client CA, callers must show a certificate too. */
export type TlsConfig = {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | undefined;
};

export type ServerOptions = {
  readonly tls: TlsConfig | undefined;
  /** Whether a server without TLS refuses HTTP/2. */
  readonly isHttp1Only?: boolean;
};

/** The first bytes of every HTTP/2 connection. HTTP/1.1 has no method PRI. */
const HTTP2_PREFACE = "PRI * HTTP/2.0";
/** How long an idle connection stays open: longer than a gateway keeps one, so that no gateway uses a closed one. */
const IDLE_CONNECTION_MS = 65_000;
/**
 * The most requests of one HTTP/1.1 connection. A busy connection never becomes idle, so without a limit a core added
 * behind a balancer would get no load.
 */
const REQUESTS_PER_CONNECTION = 10_000;
const HEAD_MS = 10_000;
const HEAD_BYTES = 16_384;

const HTTP1: http.ServerOptions = {
  keepAliveTimeout: IDLE_CONNECTION_MS,
  headersTimeout: HEAD_MS,
  requestTimeout: BODY_MS,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: HEAD_BYTES,
};
export const HTTP2: http2.ServerOptions = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: HEAD_BYTES, enablePush: false },
  // A client that resets streams faster loses its connection (CVE-2023-44487). nghttp2 itself limits CONTINUATION
  // frames.
  streamResetBurst: 100,
  streamResetRate: 50,
  // In MB. A client may leave 100 pages of up to 1.6 MB unread. Beyond this limit, Node refuses calls.
  maxSessionMemory: 200,
};

/** A server that does not listen yet; `closeIdle` closes HTTP/1.1 connections without a request in flight. */
type HttpServer = { readonly server: net.Server; readonly closeIdle: () => void };

/** Creates a server of HTTP/2 and HTTP/1.1. With TLS the client chooses by ALPN, otherwise by its first bytes. */
export function createHttpServer(
  onRequest: (request: NodeRequest, response: NodeResponse) => void,
  goodbye: Goodbye,
  { tls, isHttp1Only }: ServerOptions,
): HttpServer {
  // The servers of both versions get accepted connections and never listen. So emit `listening`, which starts
  // HTTP/1.1's timeouts.
  const overHttp1 = http.createServer(HTTP1, onRequest);
  overHttp1.emit("listening");
  overHttp1.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
  keepUnsentAnswers(overHttp1);
  const overHttp2 = http2.createServer(HTTP2, onRequest).on("session", (session) => {
    goodbye.addSession(session);
    closeWhenIdle(session);
  });
  // Otherwise Node would answer CONNECT and an unknown Expect itself. Such streams stay open, and ADR 0037's limits
  // would not count them.
  overHttp2.on("connect", onRequest).on("checkExpectation", onRequest);
  const serve = (socket: net.Socket, isHttp2: boolean) =>
    (isHttp2 ? overHttp2 : overHttp1).emit("connection", socket);
  const server = tls
    ? secureServer(tls, (socket) => serve(socket, socket.alpnProtocol === "h2"))
    : net.createServer((socket) => {
        if (isHttp1Only) serve(socket, false);
        else readVersion(socket, (isHttp2) => serve(socket, isHttp2));
      });
  server.on("close", () => overHttp1.close());
  return { server, closeIdle: () => overHttp1.closeIdleConnections() };
}

function secureServer(tls: TlsConfig, serve: (socket: TLSSocket) => void): net.Server {
  const clientCa = tls.clientCaFile && readFileSync(tls.clientCaFile);
  return createTlsServer(
    {
      ALPNProtocols: ["h2", "http/1.1"],
      handshakeTimeout: HEAD_MS,
      cert: readFileSync(tls.certFile),
      key: readFileSync(tls.keyFile),
      ...(clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    },
    serve,
  );
}

/** Calls `decided` when the first bytes of a connection show its HTTP version. The server then reads them again. */
function readVersion(socket: net.Socket, decided: (isHttp2: boolean) => void): void {
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
    decided(isHttp2);
  });
  socket.once("end", () => chunks.length === 0 && socket.destroy());
}

/**
 * Closes a session after `IDLE_CONNECTION_MS` without use. Calls in flight end normally. Later calls use another
 * connection.
 */
function closeWhenIdle(session: http2.ServerHttp2Session): void {
  session.setTimeout(IDLE_CONNECTION_MS, () => session.close());
}
