import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";

/** Connect's default. */
const PING_TIMEOUT_MS = 15_000;

/**
 * Connect's HTTP/2 connections to the core, without three faults of Connect. Connect stops listening before Node emits
 * the error of a broken session (connect-es 1768). It may ping a destroyed session (connect-es 1795). Both faults would
 * end the process. It also drops the time limit of a ping if the last call ends before the ping is answered. Later
 * calls would then wait for that ping without a limit.
 */
export class CoreSessions extends Http2SessionManager {
  readonly #known = new WeakSet<object>();
  readonly #pingTimeoutMs: number;

  constructor(...options: ConstructorParameters<typeof Http2SessionManager>) {
    super(...options);
    this.#pingTimeoutMs = options[1]?.pingTimeoutMs ?? PING_TIMEOUT_MS;
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
