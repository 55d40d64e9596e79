import { createServer, type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type FollowOptions, follow } from "../follow.ts";
import { type Refusal, refusalOf } from "./admit.ts";
import { openEventStream } from "./event-stream.ts";
import { createKept } from "./kept.ts";
import type { Listener } from "./listener.ts";
import { readOverlayPage } from "./overlay-page.ts";
import { openWebSocket } from "./web-socket.ts";

const HOST = "127.0.0.1";
const MAX_CONNECTIONS = 100;
/** The headers of every answer. The hub's addresses contain the token, so caches and other sites must not see them. */
const PRIVATE = {
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
const NOT_FOUND: Refusal = {
  status: 404,
  sentence: "There are /overlay, /events and, for a WebSocket, /socket.",
};

export interface HubOptions extends FollowOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** A client with this token may read the hub. */
  readonly token: string;
}

/** A running hub. */
export interface Hub {
  readonly port: number;
  /** The page for a browser source, with the token. */
  readonly overlayUrl: string;
  /** Rejects when following ends with an error. The hub then still serves its kept records. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Follows an account and serves its records to this machine: as a page, as server-sent events and as a WebSocket. None
 * of these has the API key. Rejects if the port is taken.
 */
export async function startHub({ port, token, ...options }: HubOptions): Promise<Hub> {
  const kept = createKept();
  const page = readOverlayPage();
  const listeners = new Set<Listener>();
  const admission = { port, token };
  const base = `http://${HOST}`;
  /** A target that is no URL, such as `//`, counts as `/`, where the hub serves nothing. */
  const urlOf = ({ url = "" }: IncomingMessage) =>
    new URL(URL.canParse(url, base) ? url : "/", base);

  /** Sends a listener the records that it missed, and then each new one. */
  function add(listener: Listener, after: string | null): void {
    for (const activity of after === null ? [] : kept.after(after)) listener.send(activity);
    listeners.add(listener);
    listener.onClose(() => listeners.delete(listener));
  }

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const url = urlOf(request);
    const refusal = refusalOf(request, url, admission);
    for (const [name, value] of Object.entries(PRIVATE)) response.setHeader(name, value);
    if (refusal === undefined && url.pathname === "/overlay") {
      response.writeHead(200, page.headers).end(page.html);
    } else if (refusal === undefined && url.pathname === "/events") {
      const last = request.headers["last-event-id"];
      const after = typeof last === "string" ? last : url.searchParams.get("after");
      add(openEventStream(response, after ?? kept.position()), after);
    } else {
      const { status, sentence } = refusal ?? NOT_FOUND;
      response.writeHead(status, { "Content-Type": "text/plain" }).end(`${sentence}\n`);
    }
  };
  const server = createServer(answer);
  server.on("upgrade", (request, socket: Duplex, head) => {
    // Node removed its own listener of errors. Without one, a reset connection would end the process.
    socket.on("error", () => socket.destroy());
    if (request.headers.upgrade?.toLowerCase() !== "websocket") {
      // The client only offers another protocol, such as h2c. The hub ignores the offer and answers as usual. RFC 9110
      // §7.8
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      try {
        response.assignSocket(socket as Socket); // node:http passes the connection's Socket.
      } catch {
        // The answer to an earlier, pipelined request is still being written, so this request gets none.
        socket.destroy();
        return;
      }
      // The hub destroys the socket after the answer: a client that keeps its side open must not delay `close`.
      response.on("finish", () => socket.end(() => socket.destroy()));
      // Reads the socket, so that the hub notices the end of the connection.
      socket.on("end", () => socket.destroy()).resume();
      answer(request, response);
      return;
    }
    const url = urlOf(request);
    const refusal =
      refusalOf(request, url, admission) ?? (url.pathname === "/socket" ? undefined : NOT_FOUND);
    const listener = refusal ? undefined : openWebSocket(request, socket, head);
    if (listener) return add(listener, url.searchParams.get("after"));
    const status = refusal?.status ?? 400;
    const refused = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
    socket.end(refused, () => socket.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, HOST, resolve);
  });
  admission.port = (server.address() as AddressInfo).port; // It listens on TCP.

  const stopped = new AbortController();
  options.signal?.addEventListener("abort", () => stopped.abort(), { once: true });
  // A listener that is added after the abort is never called, so this aborts at once.
  if (options.signal?.aborted) stopped.abort();
  const ended = (async () => {
    for await (const activity of follow({ ...options, signal: stopped.signal })) {
      kept.add(activity);
      for (const listener of listeners) listener.send(activity);
    }
  })();
  // The caller handles a failure when it awaits `ended`.
  ended.catch(() => {});
  return {
    port: admission.port,
    overlayUrl: `http://${HOST}:${admission.port}/overlay?token=${token}`,
    ended,
    async close() {
      stopped.abort();
      await ended.catch(() => {});
      for (const listener of listeners) listener.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
