import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";

/** How many connections may be open whose caller is not known: one more, and the one that is silent longest is cut. */
const MAX_UNKNOWN = 512;
/** How long a connection may take to send the head of its first request. */
const FIRST_REQUEST_MS = 10_000;

export type NodeRequest = IncomingMessage | Http2ServerRequest;

/**
 * The open connections. Beyond the limit of those that have not authenticated, the one that was
 * silent longest is cut. So a client that opens thousands holds few, and is cut before one that
 * authenticates at once.
 */
export type Connections = {
  /** Takes up a connection that was accepted. */
  add(socket: Socket): void;
  /** The head of a request arrived on a connection; names the connection while its caller is unknown. */
  hasAsked(request: NodeRequest): string | undefined;
  /** A caller authenticated on the request's connection, which is kept from now on. */
  keep(request: NodeRequest): void;
  /** Cuts those over which nothing was asked yet. */
  cutSilent(): void;
  /** Cuts all. */
  cut(): void;
};

/** Creates the set of a listener's connections. */
export function createConnections(): Connections {
  const all = new Set<Socket>();
  /** By address and port, the one that is silent longest first. */
  const unknown = new Map<
    string,
    { readonly socket: Socket; readonly timer: NodeJS.Timeout; hasAsked: boolean }
  >();

  function forget(name: string): void {
    clearTimeout(unknown.get(name)?.timer);
    unknown.delete(name);
  }

  return {
    add(socket) {
      const name = nameOf(socket);
      const timer = setTimeout(() => socket.destroy(), FIRST_REQUEST_MS);
      all.add(socket);
      unknown.set(name, { socket, timer, hasAsked: false });
      socket.once("close", () => {
        all.delete(socket);
        forget(name);
      });
      if (unknown.size <= MAX_UNKNOWN) return;
      const [silent] = unknown.values();
      silent?.socket.destroy();
      // Its close comes later, and the next connection perhaps before that.
      if (silent) forget(nameOf(silent.socket));
    },
    hasAsked({ socket }) {
      const name = nameOf(socket);
      const connection = unknown.get(name);
      // Of a connection that is gone there is no address, and its requests can still arrive.
      if (connection === undefined) return socket.remoteAddress === undefined ? name : undefined;
      clearTimeout(connection.timer);
      unknown.delete(name);
      unknown.set(name, connection);
      connection.hasAsked = true;
      return name;
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

/** A socket of node:http2 is a proxy of the one that was accepted; both name the same ends. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
