import type { DescService } from "@bufbuild/protobuf";
import {
  type ConnectRouterOptions,
  createContextValues,
  type ServiceImpl,
} from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { keepConnectionKey, peerAddressKey } from "../admission/caller.ts";
import { Access } from "./access.ts";
import type { Connections, NodeRequest } from "./connections.ts";
import type { RegisteredService } from "./registered-service.ts";

/** Of one message, as it was sent and as it is inflated; an import sends many. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Where nobody needs to say who it is, messages are short. */
const MAX_OPEN_MESSAGE_BYTES = 4096;

/** Creates what answers the requests of a listener, in gRPC, gRPC-Web and Connect unless told otherwise. */
export function createWireHandler(
  services: readonly RegisteredService[],
  connections: Connections,
  {
    addressOf = ({ socket }) => socket?.remoteAddress,
    ...options
  }: Pick<ConnectRouterOptions, "interceptors" | "requestGate" | "grpc" | "grpcWeb"> & {
    /** Returns the client's address; that of the socket unless given. */
    readonly addressOf?: (request: NodeRequest) => string | undefined;
  },
) {
  return connectNodeAdapter({
    ...options,
    readMaxBytes: MAX_MESSAGE_BYTES,
    routes(router) {
      for (const { service, implementation, accessOf } of services) {
        const isOpen = service.methods.some((method) => accessOf(method) === Access.Open);
        // A service that has options of its own is served in every protocol, whatever the handler's say.
        const own = isOpen ? { readMaxBytes: MAX_OPEN_MESSAGE_BYTES } : undefined;
        // `register` checked the implementation against its service.
        router.service(service, implementation as ServiceImpl<DescService>, own);
      }
    },
    contextValues: (request) =>
      createContextValues()
        .set(peerAddressKey, addressOf(request))
        .set(keepConnectionKey, () => connections.keep(request)),
  });
}
