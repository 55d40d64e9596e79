import { Http2SessionManager } from "@connectrpc/connect-node";

/**
 * Connect's HTTP/2 connections to the core, without two faults that would end the process. Connect stops listening
 * before Node emits the error of a broken session (connect-es 1768). It may ping a destroyed session (connect-es 1795).
 */
export class CoreSessions extends Http2SessionManager {
  readonly #known = new WeakSet<object>();

  override async request(...call: Parameters<Http2SessionManager["request"]>) {
    const stream = await super.request(...call);
    const { session } = stream;
    if (session !== undefined && !this.#known.has(session)) {
      this.#known.add(session);
      session.on("error", () => undefined);
      const ping = session.ping.bind(session) as (...args: unknown[]) => boolean;
      session.ping = (...args: unknown[]) => !session.destroyed && ping(...args);
    }
    return stream;
  }
}
