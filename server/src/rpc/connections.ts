import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/** The most connections whose caller is unknown. Beyond it, the longest idle one is cut. */
const MAX_UNKNOWN = 512;
/** The most HTTP/2 streams in flight for unknown callers. Each takes 40 KB for as long as its client keeps it open. */
const MAX_UNKNOWN_STREAMS = 512;
/** How long a connection may take to send the head of its first request. */
const FIRST_REQUEST_MS = 10_000;

export type NodeRequest = IncomingMessage | Http2ServerRequest;

/**
 * The open connections. If too many have not authenticated, the core cuts the one among these that is idle longest. So
 * a client that opens thousands loses most of them, and a client that authenticates at once keeps its own.
 */
export type Connections = {
  add(socket: Socket): void;
  /** Notes that a request's head arrived. Returns the connection's name while its caller is unknown. */
  hasAsked(request: NodeRequest): string | undefined;
  /**
   * Notes that work on a stream of the connection `name` begins. Beyond the limit, refuses the oldest stream of the
   * connection with the most streams.
   */
  begin(stream: ServerHttp2Stream, name: string): void;
  /** Stops counting the request's connection as unknown, because its caller authenticated. */
  keep(request: NodeRequest): void;
  /** Cuts connections that had no request yet. */
  cutSilent(): void;
  cut(): void;
};

export function createConnections(): Connections {
  const all = new Set<Socket>();
  /** The connections whose caller is unknown, by address and port, the longest idle first. */
  const unknown = new Map<
    string,
    { readonly socket: Socket; readonly timer: NodeJS.Timeout; hasAsked: boolean }
  >();
  /**
   * Open streams that began for unknown callers, with their connections' names, the oldest first. Some of these callers
   * are known by now.
   */
  const begun = new Map<ServerHttp2Stream, string>();

  function forget(name: string): void {
    clearTimeout(unknown.get(name)?.timer);
    unknown.delete(name);
  }

  return {
    add(socket) {
      const name = nameOf(socket);
      const timer = setTimeout(() => socket.destroy(), FIRST_REQUEST_MS);
      all.add(socket);
      // Forget an old connection with this name: after a reset a client may use its port again before the old
      // connection's close event.
      forget(name);
      unknown.set(name, { socket, timer, hasAsked: false });
      socket.once("close", () => {
        all.delete(socket);
        if (unknown.get(name)?.socket === socket) forget(name);
      });
      if (unknown.size <= MAX_UNKNOWN) return;
      const [silent] = unknown.values();
      silent?.socket.destroy();
      // Forget it now, because the next connection may come before its close event.
      if (silent) forget(nameOf(silent.socket));
    },
    hasAsked({ socket }) {
      const name = nameOf(socket);
      const connection = unknown.get(name);
      // A closed connection has no address, but its requests may still arrive. Their caller counts as unknown.
      if (connection === undefined) return socket.remoteAddress === undefined ? name : undefined;
      clearTimeout(connection.timer);
      unknown.delete(name);
      unknown.set(name, connection);
      connection.hasAsked = true;
      return name;
    },
    begin(stream, name) {
      begun.set(stream, name);
      stream.once("close", () => begun.delete(stream));
      if (begun.size <= MAX_UNKNOWN_STREAMS) return;
      for (const [each, of] of begun) if (!unknown.has(of)) begun.delete(each);
      if (begun.size <= MAX_UNKNOWN_STREAMS) return;
      const byConnection = [...Map.groupBy(begun.keys(), (each) => begun.get(each)).values()];
      const [oldest] = byConnection.reduce((a, b) => (b.length > a.length ? b : a));
      if (oldest === undefined) return;
      begun.delete(oldest);
      // Tells the client that it may repeat the call, because a call of an unknown caller stores only counts.
      oldest.close(constants.NGHTTP2_REFUSED_STREAM);
    },
    keep: ({ socket }) => forget(nameOf(socket)),
    cutSilent() {
      for (const { socket, hasAsked } of unknown.values()) if (!hasAsked) socket.destroy();
    },
    cut() {
      for (const socket of all) socket.destroy();
    },
  };
}

/** Names a connection by its address and port, because a socket of node:http2 is a proxy of the accepted one. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
