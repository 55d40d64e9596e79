import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { expect } from "vitest";
import { faultsOfWebhookBody } from "../contract/openapi-document.ts";
import type { Certificate } from "./harness-receiver-certificates.ts";

/** A request as the receiver got it. */
export type ReceivedRequest = {
  readonly requestLine: string;
  /** The headers in the order and spelling in which they came. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The number of its connection, from 0. */
  readonly connection: number;
};

/** Handles a complete request. It may do anything with the socket. */
export type Behaviour = (socket: Socket, request: ReceivedRequest) => void;

/** A server on loopback that counts requests and connections. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts a receiver, over TLS if it has a certificate. */
export async function startReceiver(
  behaviour: Behaviour,
  certificate?: Certificate,
  host = "127.0.0.1",
) {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const serving = new Set<Socket>();
  let connections = 0;
  let handshakes = 0;
  const serve = (socket: Socket) => {
    serving.add(socket);
    socket.on("close", () => serving.delete(socket));
    const connection = handshakes++;
    readRequests(socket, (request) => {
      const received = { ...request, connection };
      requests.push(received);
      receiver.behaviour(socket, received);
    });
  };
  const server: Server = certificate
    ? createTlsServer({ ...certificate }, (socket: TLSSocket) => serve(socket))
    : createServer(serve);
  // Counts TCP connections: Node emits "connection" for one even if its TLS handshake never ends.
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  await once(server.listen(0, host), "listening");
  const receiver = {
    port: (server.address() as AddressInfo).port, // it listens on TCP
    requests: requests as readonly ReceivedRequest[],
    /** The number of accepted TCP connections. */
    connectionCount: () => connections,
    openCount: () => sockets.size,
    /** The sockets that carry requests: the TLS ones, not the TCP ones below them. */
    sockets: () => [...serving],
    behaviour,
    /** Stops the receiver. Fails if openapi-webhooks.yaml does not describe a body that it got. */
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await once(server.close(), "close");
      expect(requests.flatMap(({ body }) => faultsOfWebhookBody(body))).toEqual([]);
    },
  };
  return receiver;
}

/** Reads requests from a connection. It expects the content-length header that our sender writes. */
function readRequests(
  socket: Socket,
  report: (request: Omit<ReceivedRequest, "connection">) => void,
): void {
  let unread = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    const headEnd = unread.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const [requestLine = "", ...lines] = unread.toString("latin1", 0, headEnd).split("\r\n");
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
    const length = Number(headers.find(([name]) => name === "content-length")?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (unread.length < end) return;
    const body = unread.subarray(headEnd + 4, end);
    unread = unread.subarray(end);
    report({ requestLine, headers, body });
  });
}
