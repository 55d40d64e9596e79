import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import type { TlsConfig } from "./config.ts";

type Handler = (
  request: http.IncomingMessage | http2.Http2ServerRequest,
  response: http.ServerResponse | http2.Http2ServerResponse,
) => void;

/** A port that is open; `close` ends what is idle at once and the rest after a grace. */
export type Listener = { readonly port: number; close(): Promise<void> };

/** What every HTTP/2 connection says first; HTTP/1.1 has no method of that name. */
const HTTP2_PREFACE = "PRI * HTTP/2.0";
/** How long an HTTP/1.1 connection is kept idle: longer than a gateway keeps it, so that none is lost in use. */
const IDLE_CONNECTION_MS = 65_000;
const CLOSE_GRACE_MS = 3_000;

/**
 * Opens one port for gRPC, gRPC-Web and Connect, over HTTP/2 and HTTP/1.1 alike: with TLS the client
 * chooses by ALPN, without it by the first bytes it sends.
 */
export async function listen(
  handler: Handler,
  options: { readonly host: string; readonly port: number; readonly tls: TlsConfig | undefined },
): Promise<Listener> {
  const sockets = new Set<net.Socket>();
  const server = options.tls ? secureServer(handler, options.tls) : plainServer(handler);
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  return { port, close: () => closeAll(server, sockets) };
}

function secureServer(handler: Handler, tls: TlsConfig): http2.Http2SecureServer {
  const clientCa = tls.clientCaFile && readFileSync(tls.clientCaFile);
  return http2.createSecureServer(
    {
      allowHTTP1: true,
      cert: readFileSync(tls.certFile),
      key: readFileSync(tls.keyFile),
      ...(clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    },
    handler,
  );
}

function plainServer(handler: Handler): net.Server {
  const overHttp1 = http.createServer({ keepAliveTimeout: IDLE_CONNECTION_MS }, handler);
  const overHttp2 = http2.createServer(handler);
  return net.createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("readable", () => {
      const first: Buffer | null = socket.read();
      if (first === null) return socket.destroy();
      socket.unshift(first);
      const isHttp2 = HTTP2_PREFACE.startsWith(first.toString("latin1", 0, HTTP2_PREFACE.length));
      (isHttp2 ? overHttp2 : overHttp1).emit("connection", socket);
    });
  });
}

async function closeAll(server: net.Server, sockets: ReadonlySet<net.Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const deadline = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, CLOSE_GRACE_MS);
  for (const socket of sockets) socket.end();
  await closed;
  clearTimeout(deadline);
}
