import type { CoreAddress } from "@activity/runtime/core-address";
import { type CoreTransport, connectToCore } from "@activity/runtime/core-transport";

/**
 * Claims hold two connections while they wait. Other calls take milliseconds. When 512 connections of a core are not
 * authenticated yet, one more makes it cut the longest idle one.
 */
const MAX_CONNECTIONS = 64;

/** Creates the transport from a delivering process to a core in another process. */
export function createCoreTransport(core: CoreAddress): CoreTransport {
  const credentialHeader = ["authorization", "Bearer "] as const;
  return connectToCore({ ...core, credentialHeader, maxConnections: MAX_CONNECTIONS });
}
