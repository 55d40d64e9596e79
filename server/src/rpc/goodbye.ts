import type { ServerResponse } from "node:http";
import { constants, Http2ServerResponse, type ServerHttp2Session } from "node:http2";
import type { NodeResponse } from "./listener.ts";

/**
 * The highest stream id. GOAWAY names it, so that every request that was sent by now is still answered. RFC 9113 §6.8
 */
const MAX_STREAM_ID = 2 ** 31 - 1;

/**
 * Tells the connections of a listener to close: by `Connection: close` in HTTP/1.1, by GOAWAY in HTTP/2. A Node client
 * can lose a request that it sends during a GOAWAY. So the server sends GOAWAY just before the only answer in flight
 * ends, because the client sends nothing then.
 */
export type Goodbye = {
  addSession(session: ServerHttp2Session): void;
  /** Adds the response of a request that is not answered yet. */
  addResponse(response: NodeResponse): void;
  /** From now on, tells each connection to close with its next answer. */
  begin(): void;
  /** Tells the sessions that were not told yet. */
  tellRest(): void;
  /** Refuses new streams on all sessions. Each session closes when its streams in flight have ended. */
  closeSessions(): void;
};

export function createGoodbye(): Goodbye {
  /** The number of streams in flight, by session. */
  const sessions = new Map<ServerHttp2Session, number>();
  const told = new WeakSet<ServerHttp2Session>();
  /** The HTTP/1.1 responses in flight. */
  const inFlight = new Set<ServerResponse>();
  let hasBegun = false;

  function tell(session: ServerHttp2Session): void {
    if (told.has(session) || session.closed || session.destroyed) return;
    told.add(session);
    session.goaway(constants.NGHTTP2_NO_ERROR, MAX_STREAM_ID);
  }

  function tellBeforeEnd(response: Http2ServerResponse): void {
    const session = response.stream.session as ServerHttp2Session; // A server has only server sessions.
    const count = (change: number) => {
      const streams = sessions.get(session);
      if (streams !== undefined) sessions.set(session, streams + change);
    };
    count(1);
    response.once("close", () => count(-1));
    const { end } = response;
    response.end = function endTold(this: Http2ServerResponse, ...args: unknown[]) {
      if (hasBegun && sessions.get(session) === 1) tell(session);
      return (end as (...args: unknown[]) => Http2ServerResponse).apply(this, args);
    } as typeof end;
  }

  return {
    addSession(session) {
      sessions.set(session, 0);
      session.once("close", () => sessions.delete(session));
    },
    addResponse(response) {
      if (response instanceof Http2ServerResponse) return tellBeforeEnd(response);
      if (hasBegun) {
        response.setHeader("Connection", "close");
        return;
      }
      inFlight.add(response);
      response.once("close", () => inFlight.delete(response));
    },
    begin() {
      hasBegun = true;
      for (const response of inFlight) {
        if (!response.headersSent) response.setHeader("Connection", "close");
      }
    },
    tellRest() {
      for (const session of sessions.keys()) tell(session);
    },
    closeSessions() {
      for (const session of sessions.keys()) session.close();
    },
  };
}
