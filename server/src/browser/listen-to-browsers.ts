import {
  createFindClientAddress,
  UNTRUSTED_PROXY,
  warnOfUntrustedProxy,
} from "@activity/runtime/client-address";
import type { Log } from "@activity/runtime/log";
import { createContextValues, type Interceptor } from "@connectrpc/connect";
import { keepConnectionKey, peerAddressKey } from "../admission/caller.ts";
import { createConnections, type NodeRequest } from "../rpc/connections.ts";
import { type Listener, listen } from "../rpc/listener.ts";
import { isForBrowsers, type RegisteredService } from "../rpc/registered-service.ts";
import type { Gate } from "../rpc/request-gate.ts";
import { createUnaryWire } from "../rpc/unary-wire.ts";
import { createBrowserHandler } from "./browser-handler.ts";
import type { DashboardConfig } from "./dashboard-config.ts";
import { readPageFiles } from "./page-files.ts";
import { securityHeaders } from "./security-headers.ts";
import { createServePage } from "./serve-page.ts";

/**
 * The limit of a message. The page's longest, a test event, has 4,200 characters of text, each up to 6 bytes in JSON.
 */
const MAX_MESSAGE_BYTES = 32_768;

/**
 * Opens the port for browsers. It serves the page's files, and answers the page's calls in the Connect protocol, over
 * HTTP/1.1 only. A proxy in front of it ends TLS.
 */
export async function listenToBrowsers(
  dashboard: DashboardConfig & { readonly port: number },
  services: readonly RegisteredService[],
  options: { readonly gate: Gate; readonly interceptors: Interceptor[] },
  log: Log,
): Promise<Listener> {
  const { origin, frameAncestors, host, port } = dashboard;
  const { trustedProxies } = dashboard;
  const find = createFindClientAddress(trustedProxies);
  const findClientAddress = warnOfUntrustedProxy(find, trustedProxies, () =>
    log.warn(UNTRUSTED_PROXY),
  );
  const connections = createConnections();
  const answerCall = createUnaryWire(services.filter(isForBrowsers), {
    ...options,
    readMaxBytes: MAX_MESSAGE_BYTES,
    contextValues: (request) =>
      createContextValues()
        .set(peerAddressKey, addressOf(request))
        .set(keepConnectionKey, () => connections.keep(request)),
  });
  const files = await readPageFiles(dashboard.files);
  if (files.size === 0)
    log.warn(
      "the dashboard has no page: it is not built, or DASHBOARD_FILES does not name its folder",
    );
  const handler = createBrowserHandler(
    securityHeaders(origin, frameAncestors),
    answerCall,
    createServePage(files),
  );
  return listen(handler, connections, { host, port, tls: undefined, isHttp1Only: true });

  function addressOf({ socket, headers }: NodeRequest): string {
    const forwardedFor = [headers["x-forwarded-for"] ?? []].flat();
    return findClientAddress(socket?.remoteAddress ?? "", forwardedFor);
  }
}
