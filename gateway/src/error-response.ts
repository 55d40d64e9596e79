import { createResponse, type GatewayResponse } from "./gateway-response.ts";
import { ALLOW, PATHS } from "./router.ts";

/** Every `error.code` of the API with its status and message. docs/errors.md describes them. §7 */
const ERRORS = {
  invalid_request: { status: 400, message: "The request is not well-formed HTTP." },
  invalid_parameter: { status: 400, message: "A parameter is not accepted." },
  invalid_cursor: {
    status: 400,
    message: "The cursor was not issued for this account, order and filters. Ask again without it.",
  },
  invalid_api_key: { status: 401, message: "The API key is invalid, expired or revoked." },
  account_unavailable: {
    status: 403,
    message: "The account is blocked, deleted or not verified. Ask the operator.",
  },
  not_found: { status: 404, message: `There is nothing at this path. The paths are ${PATHS}.` },
  method_not_allowed: { status: 405, message: `The methods of this path are ${ALLOW}.` },
  rate_limit_exceeded: {
    status: 429,
    message: "Too many requests: try again after 60 seconds.",
  },
  internal_error: {
    status: 500,
    message: "The service failed. Report request_id and the time.",
  },
  temporarily_unavailable: {
    status: 503,
    message: "The service is temporarily unavailable: try again after 60 seconds.",
  },
} as const satisfies Record<string, { status: number; message: string }>;
export type ErrorCode = keyof typeof ERRORS;

const HEADERS: Partial<Record<ErrorCode, readonly string[]>> = {
  invalid_api_key: ["WWW-Authenticate", "Bearer"],
  method_not_allowed: ["Allow", ALLOW],
  rate_limit_exceeded: ["Retry-After", "60"],
  temporarily_unavailable: ["Retry-After", "60"],
};

/** Changes to an error response. */
export type ErrorResponseOptions = {
  /** Replaces the catalogue's status, for requests that the parser refuses. */
  readonly status?: number;
  /** Replaces the catalogue's message. It must hold nothing that a client sent. */
  readonly message?: string;
  /** More headers: name, value, name, value. */
  readonly headers?: readonly string[];
};

/** Creates an error response. §2.6 */
export function errorResponse(
  code: ErrorCode,
  requestId: string,
  { status, message, headers = [] }: ErrorResponseOptions = {},
): GatewayResponse {
  const entry = ERRORS[code];
  const body = JSON.stringify({
    error: { code, message: message ?? entry.message, request_id: requestId },
  });
  const more = [...headers, ...(HEADERS[code] ?? [])];
  return createResponse(status ?? entry.status, requestId, body, more);
}
