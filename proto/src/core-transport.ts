import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { CoreAddress } from "./core-address.ts";
import { setTraceparent } from "./traces.ts";

/** How a process reaches a core elsewhere. */
export type CoreTransport = {
  readonly transport: Transport;
  /** Closes its connections. */
  close(): void;
};

export type CoreTransportOptions = CoreAddress & {
  /** The header that carries the credential, and what stands before it there. */
  readonly credentialHeader: readonly [name: string, before: string];
  /** Connections at most; as many as there are calls at once unless given. */
  readonly maxConnections?: number;
};

/** How long a connection to the core is kept idle: less than the core keeps it, so that none is lost in use. */
const IDLE_CONNECTION_MS = 30_000;

/**
 * Creates the transport to a core elsewhere, which shows each call's credential and trace. It speaks the Connect protocol over
 * HTTP/1.1: with Node at both ends, half as many polls more than gRPC over HTTP/2 (ADR 0032), and a core that ends closes
 * its connections one by one, so that no call is lost (ADR 0043).
 */
export function connectToCore(options: CoreTransportOptions): CoreTransport {
  const { coreUrl, coreTls, revealCredential, maxConnections: maxSockets } = options;
  const [name, before] = options.credentialHeader;
  const kept = { keepAlive: true, timeout: IDLE_CONNECTION_MS, ...(maxSockets && { maxSockets }) };
  const agent = coreUrl.startsWith("https:")
    ? new HttpsAgent({ ...kept, ...coreTls })
    : new HttpAgent(kept);
  const transport = createConnectTransport({
    baseUrl: coreUrl,
    httpVersion: "1.1",
    nodeOptions: { agent },
    interceptors: [
      (next) => (request) => {
        request.header.set(name, before + revealCredential());
        setTraceparent(request.header);
        return next(request).catch(rejectAsUnavailable);
      },
    ],
    // Between machines of one network, compressing takes longer than sending.
    acceptCompression: [],
  });
  return { transport, close: () => agent.destroy() };
}

/** Connect gives a connection that is cut in the middle of a request `Internal` or `Aborted`, by what Node calls it. */
function rejectAsUnavailable(error: unknown): never {
  const isOfConnection =
    error instanceof ConnectError && error.cause instanceof Error && "code" in error.cause;
  if (!isOfConnection) throw error;
  const { rawMessage, cause } = error;
  throw new ConnectError(rawMessage, Code.Unavailable, undefined, undefined, cause);
}
