import { ActivityService, AdmissionService, FeedChangeService, MeService } from "@activity/proto";
import type { CoreAddress } from "@activity/runtime/core-address";
import { type CoreTransport, connectToCore } from "@activity/runtime/core-transport";
import { type Client, createClient, type Transport } from "@connectrpc/connect";

/** The core's services that the gateway calls, and no others. */
export type Upstream = {
  readonly activity: Client<typeof ActivityService>;
  readonly me: Client<typeof MeService>;
  readonly admission: Client<typeof AdmissionService>;
  readonly feedChanges: Client<typeof FeedChangeService>;
};

/** Creates the clients over one transport. */
export function createUpstream(transport: Transport): Upstream {
  return {
    activity: createClient(ActivityService, transport),
    me: createClient(MeService, transport),
    admission: createClient(AdmissionService, transport),
    feedChanges: createClient(FeedChangeService, transport),
  };
}

/** Creates the transport to a core in another process. The credential lets the gateway forward client addresses. */
export function createCoreTransport(core: CoreAddress): CoreTransport {
  return connectToCore({ ...core, credentialHeader: ["x-service-credential", ""] });
}
