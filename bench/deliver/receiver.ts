import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { makeSelfSigned } from "../../dev-stack/src/self-signed.ts";

/** A receiver of webhook events that answers at once, over TLS and with keep-alive. */
export type Receiver = {
  /** `host:port`, as endpoints name it. */
  readonly target: string;
  /** Its certificate, which nobody else vouches for (PEM). */
  readonly ca: string;
  /** When each event came for the first time, by its id, on `performance`'s clock. */
  readonly arrivals: ReadonlyMap<string, number>;
  /** Returns the bytes that came so far over all connections, those of TLS included. */
  receivedBytes(): number;
  /** Forgets what came, and answers with this from now on. */
  reset(status: number): void;
  /** Resolves when `count` events have come since the last reset. */
  arrived(count: number): Promise<void>;
  stop(): void;
};

/** Starts a receiver in this process. */
export async function startReceiver(): Promise<Receiver> {
  const { cert, key } = makeSelfSigned(Date.now());
  const arrivals = new Map<string, number>();
  const sockets: Socket[] = [];
  let status = 200;
  let awaited = { count: 0, resolve: () => {} };
  const server = createServer({ cert, key }, (request, response) => {
    const now = performance.now();
    const id = String(request.headers["service-event-id"]);
    if (!arrivals.has(id)) arrivals.set(id, now);
    if (arrivals.size >= awaited.count) awaited.resolve();
    request.resume().on("end", () => response.writeHead(status).end("ok"));
  });
  // What TLS is spoken over.
  server.on("connection", (socket) => sockets.push(socket as Socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    target: `127.0.0.1:${port}`,
    ca: cert,
    arrivals,
    receivedBytes: () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    reset(next) {
      arrivals.clear();
      status = next;
    },
    arrived(count) {
      if (arrivals.size >= count) return Promise.resolve();
      return new Promise((resolve) => {
        awaited = { count, resolve };
      });
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
