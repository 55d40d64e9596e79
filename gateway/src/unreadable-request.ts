import { errorResponse } from "./error-response.ts";
import type { GatewayResponse } from "./gateway-response.ts";
import { findRoute } from "./router.ts";

/** The HTTP parser's error for a request that it refuses. */
export type ParserError = {
  readonly code?: string | undefined;
  /** The last bytes that it parsed. */
  readonly rawPacket?: Buffer | undefined;
};

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\S+) HTTP\/1\.[01]\r?\n/;
const MAX_LINE = 8192;

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
        message: "The request's line and headers are too large.",
      });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return errorResponse("invalid_request", requestId, {
        status: 408,
        message: "The request did not arrive in time.",
      });
    case "HPE_INVALID_METHOD":
      return refusalOfMethod(error.rawPacket, requestId, knownMethods);
    default:
      return errorResponse("invalid_request", requestId);
  }
}

/** If the request line is valid, a method that the parser does not know is refused like any other wrong method. */
function refusalOfMethod(
  packet: Buffer | undefined,
  requestId: string,
  knownMethods: ReadonlySet<string>,
): GatewayResponse {
  const [, method, target] = REQUEST_LINE.exec(packet?.toString("latin1", 0, MAX_LINE) ?? "") ?? [];
  if (method === undefined || target === undefined || knownMethods.has(method)) {
    return errorResponse("invalid_request", requestId);
  }
  const route = findRoute(method, target);
  return errorResponse(route.kind === "read" ? "method_not_allowed" : route.kind, requestId);
}
