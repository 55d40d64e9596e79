import { constants } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import {
  createConnectRouter,
  createContextValues,
  type Interceptor,
  type ServiceImpl,
} from "@connectrpc/connect";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { keepConnectionKey, peerAddressKey } from "../admission/caller.ts";
import { isOpenToAnybody } from "./access.ts";
import type { Connections, NodeRequest } from "./connections.ts";
import { createJsonDecoder } from "./json-decoder.ts";
import type { NodeResponse } from "./listener.ts";
import { maxBytesOf, type RegisteredService } from "./registered-service.ts";
import type { Gate } from "./request-gate.ts";
import { createUnaryWire } from "./unary-wire.ts";
import { BODY_MS, closeUnlessRead } from "./unread-body.ts";

/** The most bytes of one message, both as sent and decompressed. An import sends many messages. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** The longest delay of a Node timer. A longer timer ends at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const TIMEOUT_HEADERS = [
  ["connect-timeout-ms", parseConnectTimeout],
  ["grpc-timeout", parseGrpcTimeout],
] as const;

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
  // Refuses a field or enum name that this version does not know. If it were ignored, the call could do more than it
  // should.
  const jsonOptions = { ignoreUnknownFields: false, textDecoder: createJsonDecoder(services) };
  const answerUnary = createUnaryWire(services, {
    ...{ gate, interceptors, contextValues },
    ...{ readMaxBytes: MAX_MESSAGE_BYTES, jsonOptions },
  });
  const router = createConnectRouter({
    ...{ requestGate: gate, interceptors, jsonOptions },
    acceptCompression: [compressionGzip, compressionBrotli],
  });
  for (const registered of services) {
    const { service, implementation } = registered;
    // `register` checked the implementation against its service.
    router.service(service, implementation as ServiceImpl<DescService>, {
      readMaxBytes: maxBytesOf(registered, MAX_MESSAGE_BYTES),
    });
  }
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  const longPaths = pathsOfLongBodies(services);
  return (request, response) => {
    if (answerUnary(request, response)) return;
    if ("stream" in response && !longPaths.has(request.url)) {
      closeUnlessRead(response.stream, BODY_MS, constants.NGHTTP2_CANCEL);
    }
    removeLongTimeout(request);
    answerOther(request, response);
  };

  /** Does the same as connectNodeAdapter, but does not print each failed write outside the log. */
  function answerOther(request: NodeRequest, response: NodeResponse): void {
    const handler = handlers.get(request.url?.split("?", 1)[0] ?? "");
    if (handler === undefined) {
      response.statusCode = 404;
      response.end();
      return;
    }
    // connect-node parses `:authority` as a URL's host, but HTTP/2 allows more there. Nothing uses the value, so
    // replace it.
    if ("stream" in request && !URL.canParse(`http://${request.authority}`)) {
      request.headers[":authority"] = "core";
    }
    const values = contextValues(request);
    handler(universalRequestFromNodeRequest(request, response, undefined, values))
      .then((answer) => universalResponseToNodeResponse(answer, response))
      // Only writing fails here, mostly because the caller went away.
      .catch(() => response.destroy());
  }
}

/** Removes a deadline that is further away than timers reach, 24 days. */
function removeLongTimeout({ headers }: NodeRequest): void {
  for (const [name, parse] of TIMEOUT_HEADERS) {
    const { timeoutMs = 0 } = parse(headers[name]?.toString() ?? null, Number.MAX_SAFE_INTEGER);
    if (timeoutMs > LONGEST_TIMEOUT_MS) delete headers[name];
  }
}

/** Returns the paths whose bodies have no time limit: calls of known callers that stream their requests. */
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
