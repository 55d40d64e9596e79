import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { urlToHttpOptions } from "node:url";
import type { Interceptor, Transport } from "@connectrpc/connect";
import type { CoreAddress } from "./core-address.ts";
import { createUnaryTransport } from "./unary-transport.ts";

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
 * Creates the transport to a core elsewhere, which shows each call's credential and trace. It
 * speaks the Connect protocol over HTTP/1.1, the cheapest way with Node at both ends (ADR 0032). A
 * core that ends closes such connections one by one, so no call is lost (ADR 0043).
 */
export function connectToCore(options: CoreTransportOptions): CoreTransport {
  const { coreUrl, coreTls, revealCredential, maxConnections: maxSockets } = options;
  const [name, before] = options.credentialHeader;
  const kept = { keepAlive: true, timeout: IDLE_CONNECTION_MS, ...(maxSockets && { maxSockets }) };
  const isSecure = coreUrl.startsWith("https:");
  const agent = isSecure ? new HttpsAgent({ ...kept, ...coreTls }) : new HttpAgent(kept);
  const transport = createUnaryTransport({
    request: isSecure ? requestHttps : requestHttp,
    options: { ...urlToHttpOptions(new URL(coreUrl)), agent },
    ownHeader: () => [name, before + revealCredential()],
  });
  // Loaded with the first stream: few processes have any, and it takes megabytes.
  const stream: Transport["stream"] = async (...call) => {
    const { createConnectTransport } = await import("@connectrpc/connect-node");
    const credential: Interceptor = (next) => (request) => {
      request.header.set(name, before + revealCredential());
      return next(request);
    };
    return createConnectTransport({
      ...{ baseUrl: coreUrl, httpVersion: "1.1", nodeOptions: { agent } },
      ...{ useBinaryFormat: true, interceptors: [credential] },
    }).stream(...call);
  };
  return { transport: { ...transport, stream }, close: () => agent.destroy() };
}
