import type { Interceptor, Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { CoreConfig } from "./config.ts";

/** Creates the gRPC transport to a core elsewhere, and what closes its connection. */
export function createCoreTransport({ coreUrl, coreTls, revealCredential }: CoreConfig): {
  readonly transport: Transport;
  close(): void;
} {
  const pings = { pingIntervalMs: 30_000, pingIdleConnection: true };
  const sessionManager = new Http2SessionManager(coreUrl, pings, coreTls);
  const showCredential: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${revealCredential()}`);
    return next(request);
  };
  const transport = createGrpcTransport({
    baseUrl: coreUrl,
    sessionManager,
    interceptors: [showCredential],
    // Between machines of one network, compressing takes longer than sending.
    acceptCompression: [],
  });
  return { transport, close: () => sessionManager.abort() };
}
