import { ErrorInfoSchema } from "@activity/proto";
import { createRepeats, type Log } from "@activity/runtime/log";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import { create } from "@bufbuild/protobuf";
import {
  type Duration,
  durationFromMs,
  MethodOptions_IdempotencyLevel,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { LimiterUnavailableError } from "../admission/redis-admission-store.ts";
import { RedisUrlError } from "../admission/redis-url.ts";
import { ClientRefusedError, DomainError, ErrorCode } from "../common/errors.ts";
import { createOutageLog } from "../common/outage-log.ts";
import { OverloadedError } from "../common/overloaded-error.ts";
import { isOutage } from "../database/outage.ts";
import { requestIdOf } from "./request-id.ts";

const CODE_OF = {
  invalid_parameter: Code.InvalidArgument,
  invalid_cursor: Code.InvalidArgument,
  invalid_api_key: Code.Unauthenticated,
  account_unavailable: Code.PermissionDenied,
  rate_limit_exceeded: Code.ResourceExhausted,
  temporarily_unavailable: Code.Unavailable,
  internal_error: Code.Internal,
  invalid_service_credential: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  session_ended: Code.Unauthenticated,
  session_of_another_account: Code.FailedPrecondition,
  session_link_used_up: Code.FailedPrecondition,
  dashboard_not_served: Code.FailedPrecondition,
  account_not_found: Code.NotFound,
  username_taken: Code.AlreadyExists,
  donation_not_found: Code.NotFound,
  donation_transition_refused: Code.FailedPrecondition,
  platform_event_not_found: Code.NotFound,
  api_key_not_found: Code.NotFound,
  api_key_not_active: Code.FailedPrecondition,
  api_key_limit_reached: Code.ResourceExhausted,
  api_key_created_recently: Code.ResourceExhausted,
  endpoint_not_found: Code.NotFound,
  endpoint_limit_reached: Code.ResourceExhausted,
  endpoint_switched_off: Code.FailedPrecondition,
  test_limit_reached: Code.ResourceExhausted,
  bulk_retry_limit_reached: Code.ResourceExhausted,
  secret_rotation_pending: Code.FailedPrecondition,
  secret_rotation_not_pending: Code.FailedPrecondition,
  delivery_not_found: Code.NotFound,
  delivery_already_delivered: Code.FailedPrecondition,
  delivery_erased: Code.FailedPrecondition,
} satisfies Record<ErrorCode, Code>;

const CONNECTION_GONE: ReadonlySet<unknown> = new Set([
  ...["ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END", "ERR_HTTP2_INVALID_STREAM"],
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/**
 * Maps the errors of a call to statuses with an ErrorInfo. An error of the catalogue keeps its code. An outage or
 * overload becomes temporarily_unavailable. Outages and a wrong REDIS_URL are logged at most once in ten seconds. A
 * ConnectError passes unchanged, and a caller that has gone away gets no ErrorInfo. Any other error is logged and
 * becomes internal_error, without details.
 */
export function createErrorMapping(log: Log): Interceptor {
  const logOutage = createOutageLog(log);
  const isRepeated = createRepeats(PROCESS_TIMING.nowMs);
  return (next) => async (request) => {
    const name = `${request.service.typeName}/${request.method.name}`;
    const { IDEMPOTENCY_UNKNOWN } = MethodOptions_IdempotencyLevel;
    const isRepeatable = request.method.idempotency !== IDEMPOTENCY_UNKNOWN;
    const fail = (error: unknown): never => {
      if (isOutage(error)) logOutage("the database could not serve a call", error, { call: name });
      if (error instanceof LimiterUnavailableError) {
        logOutage("the limiter could not serve a call", error, { call: name });
      }
      throw connectErrorFrom(error, isRepeatable, (cause) => {
        const requestId = requestIdOf(request);
        // Logs this message as advice, because the log leaves out the messages of causes. The message shows nothing of
        // the URL. Such a mistake fails every call.
        const advice = cause instanceof RedisUrlError ? cause.message : undefined;
        // A bug is logged at each call, because its caller may report the request id.
        if (advice === undefined || !isRepeated(advice)) {
          log.error("call failed", { call: name, requestId, cause, advice });
        }
        return requestId;
      });
    };
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: mapStream(response.message, fail) };
    } catch (error) {
      return fail(error);
    }
  };
}

async function* mapStream<T>(messages: AsyncIterable<T>, fail: (error: unknown) => never) {
  try {
    for await (const message of messages) {
      try {
        yield message;
      } catch (cause) {
        // The write to the caller failed, not the service. The write's error, such as EPIPE, looks like an error of a
        // database connection.
        throw new ConnectError("the caller went away", Code.Canceled, undefined, undefined, cause);
      }
    }
  } catch (error) {
    fail(error);
  }
}

function connectErrorFrom(
  error: unknown,
  isRepeatable: boolean,
  /** Returns the request id of the logged line. */
  logBug: (cause: unknown) => string,
): ConnectError {
  if (error instanceof DomainError) {
    return withInfo(error.code, error.message, error, refusedFor(error));
  }
  if (error instanceof ConnectError) return error;
  // The caller has gone, so nobody waits for this answer.
  if (isOfGoneCaller(error)) return ConnectError.from(error, Code.Canceled);
  if (isTemporary(error)) return unavailable(error, isRepeatable);
  const requestId = logBug(error);
  return withInfo(
    ErrorCode.InternalError,
    `The service failed. Report the request id ${requestId} and the time.`,
    error,
  );
}

/** After a connection closes, connect-node's reads and writes of its streams fail with these errors. */
function isOfGoneCaller(error: unknown): boolean {
  if (error instanceof DOMException) return error.name === "AbortError";
  return error instanceof Error && "code" in error && CONNECTION_GONE.has(error.code);
}

function refusedFor(error: DomainError): Duration | undefined {
  if (!(error instanceof ClientRefusedError) || error.refusedForMs === undefined) return undefined;
  return durationFromMs(Math.max(0, Math.floor(error.refusedForMs)));
}

function isTemporary(error: unknown): boolean {
  return (
    isOutage(error) || error instanceof OverloadedError || error instanceof LimiterUnavailableError
  );
}

/**
 * Returns `temporarily_unavailable`. A transaction without an answer may have been committed, and a repeated call would
 * then create, for example, another API key.
 */
function unavailable(cause: unknown, isRepeatable: boolean): ConnectError {
  const again = "The service is temporarily unavailable; try again after 60 seconds.";
  const first = "This call may have succeeded: errors.md says what to do first.";
  const message = isRepeatable || !isOutage(cause) ? again : `${again} ${first}`;
  return withInfo(ErrorCode.TemporarilyUnavailable, message, cause);
}

/** The cause stays in this process: neither transport sends it. */
function withInfo(
  code: ErrorCode,
  message: string,
  cause: unknown,
  clientRefusedFor?: Duration,
): ConnectError {
  const info = create(ErrorInfoSchema, { code, ...(clientRefusedFor && { clientRefusedFor }) });
  return new ConnectError(
    message,
    CODE_OF[code],
    undefined,
    [{ desc: ErrorInfoSchema, value: info }],
    cause,
  );
}
