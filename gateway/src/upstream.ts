import { readFileSync } from "node:fs";
import { ActivityService, AdmissionService, MeService } from "@activity/proto";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { CoreTlsConfig, GatewayConfig } from "./config.ts";

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

/** Creates the gRPC transport to a core elsewhere, and what closes its connection. */
export function createCoreTransport(
  config: Pick<GatewayConfig, "coreUrl" | "coreTls" | "revealCredential">,
): { readonly transport: Transport; close(): void } {
  const sessions = new Http2SessionManager(
    config.coreUrl,
    { pingIntervalMs: 30_000, pingIdleConnection: true },
    config.coreTls === undefined ? {} : readTlsFiles(config.coreTls),
  );
  const transport = createGrpcTransport({
    baseUrl: config.coreUrl,
    sessionManager: sessions,
    interceptors: [showCredential(config.revealCredential)],
    // Between machines of one network, compressing a page takes longer than sending it.
    acceptCompression: [],
  });
  return { transport, close: () => sessions.abort() };
}

/** Shows the core who forwards the client's address. */
function showCredential(reveal: () => string): Interceptor {
  return (next) => (request) => {
    request.header.set("x-service-credential", reveal());
    return next(request);
  };
}

function readTlsFiles({ caFile, certFile, keyFile }: CoreTlsConfig) {
  return {
    ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
    ...(certFile === undefined ? {} : { cert: readFileSync(certFile) }),
    ...(keyFile === undefined ? {} : { key: readFileSync(keyFile) }),
  };
}
