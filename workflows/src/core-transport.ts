import type { CoreAddress } from "@activity/runtime/core-address";
import { type CoreTransport, connectToCore } from "@activity/runtime/core-transport";

/** Claims hold three while they wait; the rest take milliseconds. A core cuts whom it does not know yet above 512. */
const MAX_CONNECTIONS = 64;

/** Creates the transport of a process that delivers to a core elsewhere. */
export function createCoreTransport(core: CoreAddress): CoreTransport {
  const credentialHeader = ["authorization", "Bearer "] as const;
  return connectToCore({ ...core, credentialHeader, maxConnections: MAX_CONNECTIONS });
}
