import { once } from "node:events";
import http2 from "node:http2";
import { listenLocally } from "../harness/listening.ts";

/** The server's certificate and key, and the CA of its clients, in PEM. */
type DoorTls = { readonly cert: string; readonly key: string; readonly ca: string };

const UNAUTHENTICATED = { ":status": 200, "content-type": "application/grpc", "grpc-status": "16" };

/**
 * Opens a proxy of the Temporal at `address` that behaves like a cluster: it requires mutual TLS and a known API key.
 */
export async function openTemporalDoor(address: string, tls: DoorTls) {
  const taken = new Set<string>();
  /** Each client connection has its own connection to Temporal. Temporal closes connections every few minutes. */
  const sessions = new Map<unknown, http2.ClientHttp2Session>();
  const server = http2.createSecureServer({ ...tls, requestCert: true, rejectUnauthorized: true });
  server.on("session", (session) => {
    const temporal = http2.connect(`http://${address}`);
    sessions.set(session, temporal);
    temporal.on("error", () => undefined);
    for (const end of ["goaway", "close"]) temporal.on(end, () => session.close());
    session.on("close", () => {
      temporal.close();
      sessions.delete(session);
    });
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    if (!taken.has(`${headers.authorization}`)) {
      return void stream.respond(UNAUTHENTICATED, { endStream: true });
    }
    const temporal = sessions.get(stream.session);
    if (!temporal || temporal.closed) {
      return void stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
    }
    const call = temporal.request({ ...headers, ":scheme": "http", ":authority": address });
    const trailers: http2.IncomingHttpHeaders = {};
    call.on("error", () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
    call.on("response", (answer) => stream.respond(answer, { waitForTrailers: true }));
    call.on("trailers", (last) => Object.assign(trailers, last));
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.on("close", () => call.close(http2.constants.NGHTTP2_CANCEL));
    stream.pipe(call).pipe(stream);
  });
  return {
    address: `127.0.0.1:${await listenLocally(server)}`,
    /** Accepts only these API keys. */
    takeKeys(...keys: string[]) {
      taken.clear();
      for (const key of keys) taken.add(`Bearer ${key}`);
    },
    setTls: (given: DoorTls) => server.setSecureContext(given),
    async stop() {
      for (const temporal of sessions.values()) temporal.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
