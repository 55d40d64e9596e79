import { type ErrorInfo, ErrorInfoSchema } from "@activity/proto";
import type { Log } from "@activity/runtime/log";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorCode, errorResponse } from "./error-response.ts";
import type { GatewayResponse } from "./gateway-response.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";

/** The codes of the core's ErrorInfo that clients may see. */
const UPSTREAM_CODES: ReadonlySet<string> = new Set([
  "invalid_parameter",
  "invalid_cursor",
  "invalid_api_key",
  "account_unavailable",
  "rate_limit_exceeded",
  "temporarily_unavailable",
  "internal_error",
] satisfies ErrorCode[]);

/** Refusals of the gateway, not of its client. `core-check.ts` logs them for the operator. */
const GATEWAY_REFUSALS = ["invalid_service_credential", "permission_denied"] as const;
export type GatewayRefusal = (typeof GATEWAY_REFUSALS)[number];

/** Codes of a call that did not reach the core, had no answer in time, or was refused by an overloaded proxy. */
const OUT_OF_REACH: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Canceled,
  Code.ResourceExhausted,
]);

/** Converts a request's failure to its response. Logs unexpected failures that the core does not log. */
export function responseFromError(thrown: unknown, requestId: string, log: Log): GatewayResponse {
  const error = ConnectError.from(thrown);
  const info = infoOf(error);
  const code = codeOf(error, info);
  // The core has logged its own failure, with this request id.
  if (code === "internal_error" && info?.code !== code) {
    log.error("request failed", {
      requestId,
      code: Code[error.code],
      cause: error.cause ?? thrown,
    });
  }
  const response = errorResponse(code, requestId, {
    headers: rateLimitHeaders(error.metadata),
    // The core's message says what the parameter accepts, and repeats no value.
    ...(code === "invalid_parameter" ? { message: error.rawMessage } : {}),
  });
  const refusedFor = info?.clientRefusedFor;
  return refusedFor ? { ...response, clientRefusedForMs: durationMs(refusedFor) } : response;
}

/** Whether a call failed because the core is away or cannot serve now, so that its request gets 503. */
export function isOutOfReach(thrown: unknown): boolean {
  const error = ConnectError.from(thrown);
  return codeOf(error, infoOf(error)) === "temporarily_unavailable";
}

/** Returns the code with which the core refused this gateway's credential, if it did. */
export function gatewayRefusalOf(error: ConnectError): GatewayRefusal | undefined {
  return refusalIn(infoOf(error));
}

function refusalIn(info: ErrorInfo | undefined): GatewayRefusal | undefined {
  return GATEWAY_REFUSALS.find((refusal) => refusal === info?.code);
}

function codeOf(error: ConnectError, info: ErrorInfo | undefined): ErrorCode {
  const code = info?.code;
  if (code !== undefined && isErrorCode(code)) return code;
  const isOutage = code === undefined ? OUT_OF_REACH.has(error.code) : refusalIn(info);
  return isOutage ? "temporarily_unavailable" : "internal_error";
}

function infoOf(error: ConnectError): ErrorInfo | undefined {
  return error.findDetails(ErrorInfoSchema)[0];
}

function isErrorCode(code: string): code is ErrorCode {
  return UPSTREAM_CODES.has(code);
}
