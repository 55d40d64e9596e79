import type { DescService } from "@bufbuild/protobuf";
import {
  type ConnectRouterOptions,
  createContextValues,
  type Interceptor,
  type ServiceImpl,
} from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { keepConnectionKey, peerAddressKey } from "../admission/caller.ts";
import { Access } from "./access.ts";
import type { Connections, NodeRequest } from "./connections.ts";
import type { NodeResponse } from "./listener.ts";
import type { RegisteredService } from "./registered-service.ts";
import type { Gate } from "./request-gate.ts";
import { createUnaryWire } from "./unary-wire.ts";

/** Of one message, as it was sent and as it is inflated; an import sends many. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Where nobody needs to say who it is, messages are short. */
const MAX_OPEN_MESSAGE_BYTES = 4096;

/** Creates what answers the requests of a listener, in gRPC, gRPC-Web and Connect unless told otherwise. */
export function createWireHandler(
  services: readonly RegisteredService[],
  connections: Connections,
  {
    gate,
    interceptors,
    addressOf = ({ socket }) => socket?.remoteAddress,
    ...options
  }: Pick<ConnectRouterOptions, "grpc" | "grpcWeb"> & {
    readonly gate: Gate;
    readonly interceptors: Interceptor[];
    /** Returns the client's address; that of the socket unless given. */
    readonly addressOf?: (request: NodeRequest) => string | undefined;
  },
): (request: NodeRequest, response: NodeResponse) => void {
  const contextValues = (request: NodeRequest) =>
    createContextValues()
      .set(peerAddressKey, addressOf(request))
      .set(keepConnectionKey, () => connections.keep(request));
  const answerUnary = createUnaryWire(services, { gate, interceptors, contextValues, maxBytesOf });
  const answerOther = connectNodeAdapter({
    ...options,
    requestGate: gate,
    interceptors,
    readMaxBytes: MAX_MESSAGE_BYTES,
    routes(router) {
      for (const registered of services) {
        const { service, implementation } = registered;
        // A service that has options of its own is served in every protocol, whatever the handler's say.
        const readMaxBytes = maxBytesOf(registered);
        const own = readMaxBytes === MAX_MESSAGE_BYTES ? undefined : { readMaxBytes };
        // `register` checked the implementation against its service.
        router.service(service, implementation as ServiceImpl<DescService>, own);
      }
    },
    contextValues,
  });
  return (request, response) => {
    if (!answerUnary(request, response)) answerOther(request, response);
  };
}

function maxBytesOf({ service, accessOf }: RegisteredService): number {
  const isOpen = service.methods.some((method) => accessOf(method) === Access.Open);
  return isOpen ? MAX_OPEN_MESSAGE_BYTES : MAX_MESSAGE_BYTES;
}
