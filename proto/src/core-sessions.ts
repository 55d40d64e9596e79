import { isIP, connect as openTcp } from "node:net";
import { type ConnectionOptions, connect as openTls } from "node:tls";
import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";

/** Connect's words for an answer that was cut, for example by a proxy. Its code would be `invalid_argument`. */
export const CUT_ANSWER = "protocol error: incomplete envelope";

/** The time limits of a connection, in milliseconds. */
type Limits = {
  /** How long a call may be silent before a ping. */
  readonly pingIntervalMs: number;
  /** How long a ping may stay unanswered. Default: 15 seconds, as in Connect. */
  readonly pingTimeoutMs?: number;
  /** How long the connection, with its TLS handshake, may take to open after the name's lookup. Default: 5 seconds. */
  readonly connectTimeoutMs?: number;
};

/**
 * Connect's HTTP/2 connections to the core, without four faults of Connect. Connect stops listening before Node emits
 * the error of a broken session (connect-es 1768). It may ping a destroyed session (connect-es 1795). Both faults would
 * end the process. Connect drops the time limit of a ping if the last call ends before the ping is answered. Later
 * calls would then wait for that ping without a limit. Calls would also wait for a TLS handshake without a limit
 * (connect-es 1748).
 */
export class CoreSessions extends Http2SessionManager {
  readonly #known = new WeakSet<object>();
  readonly #pingTimeoutMs: number;

  constructor(url: string, limits: Limits, tls: ConnectionOptions | undefined) {
    const { pingTimeoutMs = 15_000, connectTimeoutMs = 5_000 } = limits;
    const createConnection = () => openSocket(new URL(url), tls, connectTimeoutMs);
    super(url, { ...limits, pingTimeoutMs }, { ...tls, createConnection });
    this.#pingTimeoutMs = pingTimeoutMs;
  }

  override async request(...call: Parameters<Http2SessionManager["request"]>) {
    const stream = await super.request(...call);
    const { session } = stream;
    if (session !== undefined && !this.#known.has(session)) {
      this.#known.add(session);
      session.on("error", () => undefined);
      const ping = session.ping.bind(session);
      const end = () => session.destroy(new ConnectError("PING timed out", Code.Unavailable));
      session.ping = ((answered: (...result: unknown[]) => void) => {
        if (session.destroyed) return false;
        const timer = setTimeout(end, this.#pingTimeoutMs).unref();
        return ping((...result) => {
          clearTimeout(timer);
          answered(...result);
        });
      }) as typeof ping;
    }
    return stream;
  }
}

/**
 * Opens a socket as `http2.connect` does. Destroys it if it takes longer than `timeoutMs` to open. This time begins
 * after the lookup of a name: if a nameserver is away, a lookup takes five seconds, and then succeeds.
 */
function openSocket(url: URL, tls: ConnectionOptions | undefined, timeoutMs: number) {
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port) || (isTls ? 443 : 80);
  const name = isIP(host) ? {} : { servername: host };
  const socket = isTls
    ? openTls({ ...name, ...tls, host, port, ALPNProtocols: ["h2"] })
    : openTcp({ host, port });
  const end = () => socket.destroy(new ConnectError("no connection in time", Code.Unavailable));
  let timer: NodeJS.Timeout | undefined;
  const limit = () => {
    timer = setTimeout(end, timeoutMs);
  };
  if (isIP(host)) limit();
  else socket.once("lookup", limit);
  socket.once(isTls ? "secureConnect" : "connect", () => clearTimeout(timer));
  socket.once("close", () => clearTimeout(timer));
  return socket;
}
