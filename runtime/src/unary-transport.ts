import type {
  ClientRequest,
  IncomingHttpHeaders,
  RequestOptions,
  request as requestHttp,
} from "node:http";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { currentTraceparent } from "./traces.ts";

/** Where and how calls are sent. */
export type UnaryTarget = {
  /** The function of `node:http` or `node:https`. */
  readonly request: typeof requestHttp;
  /** Host, port and agent. */
  readonly options: RequestOptions;
  /** Returns a header that every call carries: name and value. */
  readonly ownHeader: () => readonly [string, string];
};

type Sent = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

const MESSAGE = "application/proto";
const TRAILER = "trailer-";

/**
 * Creates a transport for unary calls in the Connect protocol's binary form, uncompressed
 * (https://connectrpc.com/docs/protocol). It is written by hand, because a call with one write and no signal of its own
 * costs a quarter of the CPU of connect-node's client (ADR 0032). A call whose connection ends too early is
 * `Unavailable`.
 */
export function createUnaryTransport(target: UnaryTarget): Pick<Transport, "unary"> {
  return {
    async unary(method, signal, timeoutMs, header, input) {
      const [name, value] = target.ownHeader();
      const headers: Record<string, string> = {
        "content-type": MESSAGE,
        "connect-protocol-version": "1",
        ...recordOf(header),
        [name]: value,
      };
      const deadlineMs = timeoutMs !== undefined && timeoutMs > 0 ? timeoutMs : undefined;
      if (deadlineMs !== undefined) headers["connect-timeout-ms"] = `${Math.ceil(deadlineMs)}`;
      const traceparent = currentTraceparent();
      if (traceparent !== undefined) headers.traceparent = traceparent;
      const body = toBinary(method.input, create(method.input, input));
      const path = `/${method.parent.typeName}/${method.name}`;
      const answer = await post(target, { path, headers, body }, signal, deadlineMs);
      const metadata = metadataOf(answer.headers);
      if (answer.status !== 200 || answer.headers["content-type"] !== MESSAGE) {
        throw errorOf(answer, metadata.header);
      }
      const message = fromBinary(method.output, answer.body);
      return { stream: false, service: method.parent, method, message, ...metadata };
    },
  };
}

type HeadersInit = ConstructorParameters<typeof Headers>[0];

function recordOf(header: HeadersInit): Record<string, string> {
  return Object.fromEntries(new Headers(header));
}

/** Sends the request in one write. Resolves with the whole answer. */
function post(
  target: UnaryTarget,
  sent: Sent,
  signal: AbortSignal | undefined,
  timeoutMs: number | undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = begin(target, sent);
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    const fail = (error: ConnectError) => {
      end();
      reject(error);
      call.destroy();
    };
    const abort = () => fail(ConnectError.from(signal?.reason, Code.Canceled));
    const expire = () => fail(new ConnectError("no answer in time", Code.DeadlineExceeded));
    const lose = (cause?: Error) => fail(lost(cause));
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
    signal?.addEventListener("abort", abort, { once: true });
    call.on("error", lose);
    call.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", lose);
      response.on("end", () => {
        end();
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body: Buffer.concat(chunks) });
      });
    });
    call.end(sent.body);
    if (signal?.aborted) abort();
  });
}

function begin({ request, options }: UnaryTarget, { path, headers, body }: Sent): ClientRequest {
  const length = { "content-length": body.byteLength };
  try {
    return request({ ...options, method: "POST", path, headers: { ...headers, ...length } });
  } catch (cause) {
    // `request` throws, for example, if TLS cannot use a certificate.
    throw lost(cause);
  }
}

function lost(cause: unknown): ConnectError {
  return new ConnectError("no whole answer", Code.Unavailable, undefined, undefined, cause);
}

/** Returns the core's error, or the protocol's code for a status that a proxy in between answered. */
function errorOf({ status, body }: Answer, metadata: Headers): ConnectError {
  const code = status === 200 ? Code.Unknown : codeFromHttpStatus(status);
  const fallback = new ConnectError(`HTTP status ${status}`, code, metadata);
  try {
    return errorFromJsonBytes(body, metadata, fallback);
  } catch {
    return fallback;
  }
}

function metadataOf(headers: IncomingHttpHeaders): { header: Headers; trailer: Headers } {
  const [header, trailer] = [new Headers(), new Headers()];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const isTrailer = name.startsWith(TRAILER);
    const text = Array.isArray(value) ? value.join(", ") : value;
    if (isTrailer) trailer.set(name.slice(TRAILER.length), text);
    else header.set(name, text);
  }
  return { header, trailer };
}
