import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { urlToHttpOptions } from "node:url";
import type { Interceptor, Transport } from "@connectrpc/connect";
import type { CoreAddress } from "./core-address.ts";
import { createUnaryTransport } from "./unary-transport.ts";

/** A process's connections to a core in another process. */
export type CoreTransport = {
  readonly transport: Transport;
  /** Closes its connections. */
  close(): void;
};

export type CoreTransportOptions = CoreAddress & {
  /** The header with the credential, and the text before the credential in it. */
  readonly credentialHeader: readonly [name: string, before: string];
  /** The most connections; by default one for each call in flight. */
  readonly maxConnections?: number;
};

/** How long an idle connection is kept: less than the core keeps it, so that the core never closes one in use. */
const IDLE_CONNECTION_MS = 30_000;
/** How long one of several addresses may take to accept: long enough to repeat a lost SYN. Node's default is 250 ms. */
const NEXT_ADDRESS_MS = 1_500;

/**
 * Creates the transport to a core in another process. Each call carries the credential and the trace. The protocol is
 * Connect over HTTP/1.1, the cheapest between two Node processes (ADR 0032). A core that drains closes such connections
 * one by one, so no call is lost (ADR 0043).
 */
export function connectToCore(options: CoreTransportOptions): CoreTransport {
  const { coreUrl, coreTls, revealCredential, maxConnections: maxSockets } = options;
  const [name, before] = options.credentialHeader;
  const kept = {
    ...{ keepAlive: true, timeout: IDLE_CONNECTION_MS, ...(maxSockets && { maxSockets }) },
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
  };
  const isSecure = coreUrl.startsWith("https:");
  const agent = isSecure ? new HttpsAgent({ ...kept, ...coreTls }) : new HttpAgent(kept);
  const transport = createUnaryTransport({
    request: isSecure ? requestHttps : requestHttp,
    options: { ...urlToHttpOptions(new URL(coreUrl)), agent },
    ownHeader: () => [name, before + revealCredential()],
  });
  // Loads connect-node with the first stream, because few processes use streams and the module takes megabytes.
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
