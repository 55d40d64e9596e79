import { setTimeout as pause } from "node:timers/promises";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CoreSessions, CUT_ANSWER } from "./core-sessions.ts";
import { ActivityService } from "./gen/activity/read/v1/activity_service_pb.ts";
import { ErrorInfoSchema } from "./gen/activity/read/v1/error_info_pb.ts";

/** The options for calls to the core. */
export type CoreOptions = {
  /** The core's address, such as `https://core.example:50051`. */
  readonly url: string;
  /** A service credential with the permissions that the calls need. */
  readonly credential: string;
  /**
   * The time limit of a call with all its tries, in milliseconds: a whole number from 1 to 99,999,999. Default: 10
   * seconds. WaitForActivity has at least 15 seconds. Streams have none.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * PEM texts: the CA that signed the core's certificate, and a client certificate with its key for mutual TLS.
   * Default: the CAs of Node and of `NODE_EXTRA_CA_CERTS`, and no client certificate.
   */
  readonly tls?:
    | {
        readonly ca?: string | undefined;
        readonly cert?: string | undefined;
        readonly key?: string | undefined;
      }
    | undefined;
};

/** A failure of a call, as `errors.md` lists it. */
export type CoreFailure = { readonly code: string; readonly message: string };

const CREDENTIAL = /^[\x21-\x7e]*$/;
const TIMEOUT_MS = 10_000;
/** The longest time limit of a call: gRPC sends a deadline as at most eight digits. */
const MAX_TIMEOUT_MS = 99_999_999;
/** The shortest time limit of WaitForActivity, which the core answers after at most ten seconds. */
const MIN_WAIT_TIMEOUT_MS = 15_000;
/**
 * A connection that was cut silently is replaced within the default time limit of a call. A call that gets no answer
 * pings the core after `pingIntervalMs`. An idle connection is pinged only before its next call.
 */
const PINGS = { pingIntervalMs: 4_000, pingTimeoutMs: 2_000 };
/** The core refuses a message over 1 MiB with these words of Connect, and without an ErrorInfo. */
const TOO_LARGE = "message size ";
const UNKNOWN_CALL =
  "The core does not know this call: it is older than this client, or another server has this address.";
/**
 * The pauses before the second and later tries, in milliseconds. Each pause is random, from half of this time to all of
 * it. The tries are few, even if the call's time limit is long, because the core may be overloaded.
 */
const PAUSES_MS = [250, 1_000, 4_000];

/**
 * Creates the transport of Connect's clients to the core. It uses gRPC, with the credential and a deadline for every
 * unary call. While the core is away, it tries a unary call again, at most three times, but only reads, and idempotent
 * writes that have an `external_id`. Throws TypeError for a credential that no header can carry, such as one with a
 * line break, and for a `timeoutMs` out of range.
 */
export function connectToCore(options: CoreOptions): Transport {
  const { url, credential, timeoutMs = TIMEOUT_MS, tls } = options;
  // Checks the credential first, because the platform's error for a header would quote it.
  if (!CREDENTIAL.test(credential)) throw new TypeError("credential must be visible ASCII.");
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) {
    throw new TypeError(`timeoutMs must be a whole number from 1 to ${MAX_TIMEOUT_MS}.`);
  }
  const authenticate: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${credential}`);
    return next(request);
  };
  const transport = createGrpcTransport({
    ...{ baseUrl: url, defaultTimeoutMs: timeoutMs },
    sessionManager: new CoreSessions(url, PINGS, tls),
    interceptors: [tryAgain, authenticate],
  });
  const waitMs = Math.max(timeoutMs, MIN_WAIT_TIMEOUT_MS);
  return {
    unary(method, signal, limitMs, ...rest) {
      const isWait = method.name === ActivityService.method.waitForActivity.name;
      return transport.unary(method, signal, limitMs ?? (isWait ? waitMs : undefined), ...rest);
    },
    // An import with more rows takes longer, so streams have no limit: 0.
    stream: (method, signal, limitMs = 0, ...rest) =>
      transport.stream(method, signal, limitMs, ...rest),
  };
}

/**
 * Returns the reason of a failed call. A core that cannot be reached is `temporarily_unavailable`. A request that is
 * too large or cannot be encoded, such as one with a fraction of a cent, is `invalid_parameter`. A call that its caller
 * aborts is `temporarily_unavailable`, because it may have succeeded. Rethrows an error that does not come from a call.
 */
export function failureOf(failure: unknown): CoreFailure {
  // A call of Connect fails only with a ConnectError. Any other error comes from the caller's own code.
  if (!(failure instanceof ConnectError)) throw failure;
  const [info] = failure.findDetails(ErrorInfoSchema);
  const isRefused = isNotEncoded(failure) || failure.rawMessage.startsWith(TOO_LARGE);
  const ownCode = isRefused ? "invalid_parameter" : "internal_error";
  const code = info?.code ?? (isOfTheWay(failure) ? "temporarily_unavailable" : ownCode);
  const isUnknown = failure.code === Code.Unimplemented && info === undefined;
  return { code, message: isUnknown ? UNKNOWN_CALL : failure.rawMessage };
}

/**
 * Returns whether a call failed on its way. A failure of the core's services has an ErrorInfo. A broken connection or a
 * cut answer has none.
 */
function isOfTheWay(failure: ConnectError): boolean {
  const { Unavailable, DeadlineExceeded, Aborted, Canceled, Internal, Unknown } = Code;
  const codes = [Unavailable, DeadlineExceeded, Aborted, Canceled, Internal, Unknown];
  if (isNotEncoded(failure)) return false;
  const isCut = failure.rawMessage === CUT_ANSWER || codes.includes(failure.code);
  return isCut && failure.findDetails(ErrorInfoSchema).length === 0;
}

/** Returns whether a value does not fit its field. Connect then fails with this text, before it sends anything. */
function isNotEncoded(failure: ConnectError): boolean {
  return failure.rawMessage.startsWith("serialize binary: ");
}

const tryAgain: Interceptor = (next) => async (request) => {
  const { NO_SIDE_EFFECTS, IDEMPOTENT } = MethodOptions_IdempotencyLevel;
  const { idempotency } = request.method;
  // Other idempotent calls are not repeated, because the core may refuse the second one, although the first succeeded.
  const isRepeatable =
    idempotency === NO_SIDE_EFFECTS ||
    (idempotency === IDEMPOTENT && "externalId" in request.message);
  const pausesMs = request.stream || !isRepeatable ? [] : [...PAUSES_MS];
  for (;;) {
    try {
      return await next(request);
    } catch (error) {
      const pauseMs = pausesMs.shift();
      const failure = ConnectError.from(error);
      const isAway = failure.code === Code.Unavailable || isOfTheWay(failure);
      if (pauseMs === undefined || !isAway || request.signal.aborted) throw error;
      const ms = pauseMs * (0.5 + Math.random() / 2);
      await pause(ms, undefined, { signal: request.signal }).catch(() => undefined);
    }
  }
};
