import type { CoreAddress } from "@activity/runtime/core-address";
import { type CoreTransport, connectToCore } from "@activity/runtime/core-transport";

/**
 * The most connections to the core. Few are enough: waiting claims hold two, and other calls take milliseconds. Many
 * could take connections from other processes: a core keeps at most 512 connections that are not authenticated yet, and
 * cuts the longest idle one for a new one.
 */
const MAX_CONNECTIONS = 64;

/** Creates the transport from a delivering process to a core in another process. */
export function createCoreTransport(core: CoreAddress): CoreTransport {
  const credentialHeader = ["authorization", "Bearer "] as const;
  return connectToCore({ ...core, credentialHeader, maxConnections: MAX_CONNECTIONS });
}
