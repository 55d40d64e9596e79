import { constants } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { createContextValues, type Interceptor, type ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { keepConnectionKey, peerAddressKey } from "../admission/caller.ts";
import { isOpenToAnybody } from "./access.ts";
import type { Connections, NodeRequest } from "./connections.ts";
import type { NodeResponse } from "./listener.ts";
import { maxBytesOf, type RegisteredService } from "./registered-service.ts";
import type { Gate } from "./request-gate.ts";
import { createUnaryWire } from "./unary-wire.ts";
import { BODY_MS, closeUnlessRead } from "./unread-body.ts";

/** The most bytes of one message, both as sent and decompressed. An import sends many messages. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Creates the handler of a listener's requests in gRPC, gRPC-Web and Connect. */
export function createWireHandler(
  services: readonly RegisteredService[],
  connections: Connections,
  { gate, interceptors }: { readonly gate: Gate; readonly interceptors: Interceptor[] },
): (request: NodeRequest, response: NodeResponse) => void {
  const contextValues = (request: NodeRequest) =>
    createContextValues()
      .set(peerAddressKey, request.socket?.remoteAddress)
      .set(keepConnectionKey, () => connections.keep(request));
  const answerUnary = createUnaryWire(services, {
    ...{ gate, interceptors, contextValues },
    readMaxBytes: MAX_MESSAGE_BYTES,
  });
  const answerOther = connectNodeAdapter({
    ...{ requestGate: gate, interceptors, contextValues },
    routes(router) {
      for (const registered of services) {
        const { service, implementation } = registered;
        // `register` checked the implementation against its service.
        router.service(service, implementation as ServiceImpl<DescService>, {
          readMaxBytes: maxBytesOf(registered, MAX_MESSAGE_BYTES),
        });
      }
    },
  });
  const longPaths = pathsOfLongBodies(services);
  return (request, response) => {
    if (answerUnary(request, response)) return;
    if ("stream" in response && !longPaths.has(request.url)) {
      closeUnlessRead(response.stream, BODY_MS, constants.NGHTTP2_CANCEL);
    }
    answerOther(request, response);
  };
}

/** Returns the paths of streaming calls of known callers, whose bodies have no time limit. */
function pathsOfLongBodies(
  services: readonly RegisteredService[],
): ReadonlySet<string | undefined> {
  const paths = services.flatMap(({ service, accessOf }) =>
    service.methods
      .filter(({ methodKind }) => /^(client|bidi)_streaming$/.test(methodKind))
      .filter((method) => !isOpenToAnybody(accessOf(method)))
      .map(({ name }) => `/${service.typeName}/${name}`),
  );
  return new Set(paths);
}
