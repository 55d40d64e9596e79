import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTraceparent } from "@activity/proto/traces";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { CoreConfig } from "./config.ts";

/** How long a connection to the core is kept idle: less than the core keeps it, so that none is lost in use. */
const IDLE_CONNECTION_MS = 30_000;
/** Claims hold three while they wait; the rest take milliseconds. A core cuts whom it does not know yet above 512. */
const MAX_CONNECTIONS = 64;

/**
 * Creates the transport to a core elsewhere, and what closes its connections. It speaks the Connect protocol over
 * HTTP/1.1: a core that ends closes its connections one by one, and no call is lost as in HTTP/2 (ADR 0043).
 */
export function createCoreTransport({ coreUrl, coreTls, revealCredential }: CoreConfig): {
  readonly transport: Transport;
  close(): void;
} {
  const kept = { keepAlive: true, timeout: IDLE_CONNECTION_MS, maxSockets: MAX_CONNECTIONS };
  const agent = coreUrl.startsWith("https:")
    ? new HttpsAgent({ ...kept, ...coreTls })
    : new HttpAgent(kept);
  const showCredential: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${revealCredential()}`);
    setTraceparent(request.header);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: coreUrl,
    httpVersion: "1.1",
    nodeOptions: { agent },
    interceptors: [showCredential],
    // Between machines of one network, compressing takes longer than sending.
    acceptCompression: [],
  });
  return { transport, close: () => agent.destroy() };
}
