import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { ActivityService, AdmissionService, MeService } from "@activity/proto";
import { setTraceparent } from "@activity/proto/traces";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { GatewayConfig } from "./config.ts";

/** The core's services that the gateway calls, and no others. */
export type Upstream = {
  readonly activity: Client<typeof ActivityService>;
  readonly me: Client<typeof MeService>;
  readonly admission: Client<typeof AdmissionService>;
};

/** Creates the clients over one transport. */
export function createUpstream(transport: Transport): Upstream {
  return {
    activity: createClient(ActivityService, transport),
    me: createClient(MeService, transport),
    admission: createClient(AdmissionService, transport),
  };
}

/** How long a connection to the core is kept idle: less than the core keeps it, so that none is lost in use. */
const IDLE_CONNECTION_MS = 30_000;

/**
 * Creates the transport to a core elsewhere, and what closes its connections. It speaks the Connect protocol
 * over HTTP/1.1: with Node at both ends, half as many polls more than gRPC over HTTP/2 (ADR 0032).
 */
export function createCoreTransport(
  config: Pick<GatewayConfig, "coreUrl" | "coreTls" | "revealCredential">,
): { readonly transport: Transport; close(): void } {
  const { coreUrl, coreTls, revealCredential } = config;
  const idle = { keepAlive: true, timeout: IDLE_CONNECTION_MS };
  const agent = coreUrl.startsWith("https:")
    ? new HttpsAgent({ ...idle, ...coreTls })
    : new HttpAgent(idle);
  const transport = createConnectTransport({
    baseUrl: coreUrl,
    httpVersion: "1.1",
    nodeOptions: { agent },
    interceptors: [showCredential(revealCredential)],
    // Between machines of one network, compressing a page takes longer than sending it.
    acceptCompression: [],
  });
  return { transport, close: () => agent.destroy() };
}

/** Shows the core who forwards the client's address, and in which trace. */
function showCredential(reveal: () => string): Interceptor {
  return (next) => (request) => {
    request.header.set("x-service-credential", reveal());
    setTraceparent(request.header);
    return next(request);
  };
}
