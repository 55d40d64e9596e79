import type { CoreAddress } from "@activity/runtime/core-address";
import { type CoreTransport, connectToCore } from "@activity/runtime/core-transport";

/**
 * Claims hold two connections while they wait. Other calls take milliseconds. A core has at most 512 connections that
 * are not authenticated yet: one more makes it cut the longest idle one.
 */
const MAX_CONNECTIONS = 64;

/** Creates the transport from a delivering process to a core in another process. */
export function createCoreTransport(core: CoreAddress): CoreTransport {
  const credentialHeader = ["authorization", "Bearer "] as const;
  return connectToCore({ ...core, credentialHeader, maxConnections: MAX_CONNECTIONS });
}
