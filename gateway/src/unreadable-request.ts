import { errorResponse } from "./error-response.ts";
import type { GatewayResponse } from "./gateway-response.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { findRoute } from "./router.ts";

/** The HTTP parser's error for a request that it refuses. */
export type ParserError = {
  readonly code?: string | undefined;
  /** The bytes that it read last, and how many of them it parsed. */
  readonly rawPacket?: Buffer | undefined;
  readonly bytesParsed?: number | undefined;
};

/** A request line. Empty lines may come before it. RFC 9112 §2.2 */
const REQUEST_LINE = /^(?:\r\n)*([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\S+) HTTP\/1\.[01]\r?\n/;
const { headerBytes, headersTimeoutMs, requestTimeoutMs } = DEFAULT_LIMITS;
const HEAD_END = "\r\n\r\n";

/** Creates the response to a request that the parser refused. */
export function refusalOf(
  error: ParserError,
  requestId: string,
  knownMethods: ReadonlySet<string>,
): GatewayResponse {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return errorResponse("invalid_request", requestId, {
        status: 431,
        message: `The request's line and headers are over ${headerBytes / 1024} KiB. Shorten them.`,
      });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return errorResponse("invalid_request", requestId, {
        status: 408,
        message: `The request did not arrive in time: its head within ${headersTimeoutMs / 1000} seconds, all of it within ${requestTimeoutMs / 1000}. Send it again.`,
      });
    default:
      return isOfMethod(error)
        ? refusalOfMethod(error, requestId, knownMethods)
        : errorResponse("invalid_request", requestId);
  }
}

/** Returns the values of `X-Forwarded-For` in a request whose method the parser refused, if its head is complete. */
export function forwardedForOf(error: ParserError): readonly string[] {
  if (!isOfMethod(error)) return [];
  const head = headOf(error);
  const end = head.indexOf(HEAD_END);
  const lines = end < 0 ? [] : head.slice(0, end).split("\r\n");
  return lines.flatMap((line) => /^x-forwarded-for:[ \t]*(.*)$/i.exec(line)?.[1] ?? []);
}

/**
 * Whether the parser may have refused the method. It knows the methods of RTSP and HTTP/2's PRI, and refuses them with
 * the second and the third code.
 */
const isOfMethod = ({ code = "" }: ParserError) =>
  ["HPE_INVALID_METHOD", "HPE_INVALID_CONSTANT", "HPE_INVALID_VERSION"].includes(code);

/** Returns what was read of the refused request. Complete requests may come before it in the packet. */
function headOf({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: ParserError): string {
  const previous = rawPacket.lastIndexOf(HEAD_END, Math.max(0, bytesParsed - HEAD_END.length));
  const begin = previous < 0 ? 0 : previous + HEAD_END.length;
  return rawPacket.toString("latin1", begin, begin + headerBytes);
}

/**
 * Refuses a method that the parser refused. If the request line is valid, the answer is the one for any other
 * wrong method.
 */
function refusalOfMethod(
  error: ParserError,
  requestId: string,
  knownMethods: ReadonlySet<string>,
): GatewayResponse {
  const [, method, target] = REQUEST_LINE.exec(headOf(error)) ?? [];
  if (method === undefined || target === undefined || knownMethods.has(method)) {
    return errorResponse("invalid_request", requestId);
  }
  const route = findRoute(method, target);
  return errorResponse(route.kind === "read" ? "method_not_allowed" : route.kind, requestId);
}
