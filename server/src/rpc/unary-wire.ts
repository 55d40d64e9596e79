import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { DescMethodUnary, JsonReadOptions } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  type Interceptor,
  type UnaryRequest,
} from "@connectrpc/connect";
import { createMethodSerializationLookup } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  errorToJsonBytes,
  parseTimeout,
} from "@connectrpc/connect/protocol-connect";
import { compressionGzip } from "@connectrpc/connect-node";
import type { NodeRequest } from "./connections.ts";
import { createDeadline } from "./deadline.ts";
import type { NodeResponse } from "./listener.ts";
import { maxBytesOf, type RegisteredService } from "./registered-service.ts";
import type { Gate } from "./request-gate.ts";
import { createUnaryHandlers, type UnaryHandler } from "./unary-handlers.ts";

/** The content types of unary calls; true for the binary form. */
const IS_BINARY: ReadonlyMap<string | undefined, boolean> = new Map([
  ["application/proto", true],
  ["application/json", false],
]);
const JSON_TYPE = "application/json";
/** The most bytes of an answer: Connect's own limit. */
const MAX_ANSWER_BYTES = 0xffffffff;
const ANY_TIMEOUT = Number.MAX_SAFE_INTEGER;
/**
 * An answer of at least this many bytes is compressed. A shorter one would save too few bytes for the CPU time.
 * connect-node has the same default.
 */
const COMPRESSED_FROM_BYTES = 1_024;
const ACCEPTS_GZIP = /(^|,)\s*gzip\s*(,|$)/;

type Served = {
  readonly method: DescMethodUnary;
  readonly handler: UnaryHandler;
  readonly serialization: ReturnType<typeof createMethodSerializationLookup>;
  readonly maxBytes: number;
};

/**
 * Creates the handler of unary calls of the Connect protocol over HTTP/1.1 (https://connectrpc.com/docs/protocol), as
 * gateways and dispatchers make them. For any other request it does nothing and returns false. connect-node's handler
 * costs more than most calls: it makes three abort signals, aborts two, and parses two URLs (ADR 0032).
 */
export function createUnaryWire(
  services: readonly RegisteredService[],
  {
    gate,
    interceptors,
    contextValues,
    readMaxBytes,
    jsonOptions,
  }: {
    readonly gate: Gate;
    readonly interceptors: readonly Interceptor[];
    readonly contextValues: (request: NodeRequest) => ContextValues;
    /** The most bytes of a message, unless its service has a lower limit. */
    readonly readMaxBytes: number;
    /** How JSON is read. By default unknown fields are ignored. */
    readonly jsonOptions?: Partial<JsonReadOptions> | undefined;
  },
): (request: NodeRequest, response: NodeResponse) => boolean {
  const handlers = createUnaryHandlers(services, interceptors, "connect");
  const served = new Map<string | undefined, Served>();
  for (const registered of services) {
    const maxBytes = maxBytesOf(registered, readMaxBytes);
    const limits = { readMaxBytes: maxBytes, writeMaxBytes: MAX_ANSWER_BYTES };
    for (const each of registered.service.methods) {
      const method = each as DescMethodUnary; // Streaming methods have no handler.
      const handler = handlers.get(method);
      if (handler === undefined) continue;
      const serialization = createMethodSerializationLookup(
        ...[method, undefined, jsonOptions, limits],
      );
      const path = `/${method.parent.typeName}/${method.name}`;
      served.set(path, { method, handler, serialization, maxBytes });
    }
  }

  return (request, response) => {
    if (!(request instanceof IncomingMessage && response instanceof ServerResponse)) return false;
    const { headers } = request;
    const isBinary = IS_BINARY.get(headers["content-type"]);
    const call = served.get(request.url);
    const isPlain = headers["content-encoding"] === undefined && request.method === "POST";
    if (isBinary === undefined || call === undefined || !isPlain) return false;
    answer(request, response, call, isBinary).catch(() => response.destroy());
    return true;
  };

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    { method, handler, serialization, maxBytes }: Served,
    isBinary: boolean,
  ): Promise<void> {
    const timeout = parseTimeout(headerOf(request.headers, "connect-timeout-ms"), ANY_TIMEOUT);
    const deadline = createDeadline(timeout.timeoutMs);
    const leave = () => response.writableFinished || deadline.cancel();
    response.once("close", leave);
    // The caller may have gone away while the call waited for its turn. Then the close event may be over.
    if (response.destroyed) leave();
    const header = headersFrom(request.headers);
    const values = contextValues(request);
    const { signal } = deadline;
    try {
      const service = method.parent;
      await gate({ service, method, requestHeader: header, signal, values });
      if (timeout.error) throw timeout.error;
      const body = await Promise.race([readBody(request, maxBytes), deadline.expired]);
      const call: UnaryRequest = {
        ...{ stream: false, service, method, header, signal, contextValues: values },
        ...{ requestMethod: "POST", url: request.url ?? "" },
        message: serialization.getI(isBinary).parse(body),
      };
      const answered = await Promise.race([handler(call), deadline.expired]);
      const bytes = serialization.getO(isBinary).serialize(answered.message as never);
      const type = headerOf(request.headers, "content-type") ?? "";
      await send(request, response, 200, type, answered.header, bytes);
    } catch (thrown) {
      const error = thrown instanceof ConnectError ? thrown : internal(thrown);
      const bytes = errorToJsonBytes(error, undefined);
      await send(request, response, codeToHttpStatus(error.code), JSON_TYPE, error.metadata, bytes);
    } finally {
      deadline.clear();
      response.off("close", leave);
    }
  }
}

function internal(cause: unknown): ConnectError {
  return new ConnectError("internal error", Code.Internal, undefined, undefined, cause);
}

/** Reads a body. Rejects if it exceeds `maxBytes`, by its length header or by its data, and drops the rest. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const refuse = () => {
      request.off("data", take).resume();
      const words = `message size is larger than configured readMaxBytes ${maxBytes}`;
      reject(new ConnectError(words, Code.ResourceExhausted));
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) refuse();
      else chunks.push(chunk);
    };
    request.once("end", () => resolve(Buffer.concat(chunks)));
    // Ignores the error, because `answer` learns of the lost connection when the response closes.
    request.once("error", () => undefined);
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) refuse();
    else request.on("data", take);
  });
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  header: Headers,
  bytes: Uint8Array,
): Promise<void> {
  const accepted = headerOf(request.headers, "accept-encoding") ?? "";
  const isCompressed = bytes.length >= COMPRESSED_FROM_BYTES && ACCEPTS_GZIP.test(accepted);
  const body = isCompressed ? await compressionGzip.compress(bytes) : bytes;
  const encoding = isCompressed ? { "content-encoding": compressionGzip.name } : {};
  const own = { "content-type": type, "content-length": body.length, ...encoding };
  response.writeHead(status, { ...Object.fromEntries(header), ...own }).end(body);
}

function headersFrom(given: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return headers;
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" ? value : null;
}
