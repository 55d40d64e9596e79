import { clientBucket } from "@activity/runtime/client-bucket";
import { inSpan } from "@activity/runtime/traces";
import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import {
  ACCOUNT_LIMIT,
  type Admission,
  type AdmissionResult,
  CLIENT_LIMIT,
} from "../admission/admission.ts";
import {
  authenticatedAtKey,
  callerKey,
  fromServiceKey,
  inProcessKey,
  keepConnectionKey,
  peerAddressKey,
} from "../admission/caller.ts";
import { WINDOW_SECONDS } from "../admission/rate-window.ts";
import { isOfLimiter } from "../admission/redis-admission-store.ts";
import { NETWORK_LIMIT } from "../admission/wide-networks.ts";
import { hashApiKey, isApiKeyText } from "../api-key/api-key.ts";
import { ClientRefusedError, DomainError, ErrorCode } from "../common/errors.ts";
import type { OutageLog } from "../common/outage-log.ts";
import { OverloadedError } from "../common/overloaded-error.ts";
import { Permission } from "../service-credential/permission.ts";
import type { ServiceCredential } from "../service-credential/service-credential-store.ts";
import type { ServiceCredentials } from "../service-credential/service-credentials.ts";
import { Access } from "./access.ts";
import { checkAccount } from "./account-scope.ts";
import { rateWindowKey } from "./rate-limit-headers.ts";
import type { FindService } from "./registered-service.ts";
import { traceparentOf } from "./traceparent.ts";

export type Call = Pick<
  UnaryRequest | StreamRequest,
  "service" | "method" | "header" | "signal" | "contextValues"
>;
/** Throws if the caller may not make the call. Otherwise sets `callerKey`, if the call has a caller. */
export type Authenticate = (call: Call) => Promise<void>;

const IN_A_WINDOW = `are admitted in ${WINDOW_SECONDS} seconds; try again after ${WINDOW_SECONDS} seconds.`;
const CLIENT_REFUSED = `Too many requests: ${CLIENT_LIMIT} from one address, and ${NETWORK_LIMIT} from one IPv6 /48, ${IN_A_WINDOW}`;
const ACCOUNT_REFUSED = `Too many requests: ${ACCOUNT_LIMIT} for one account ${IN_A_WINDOW}`;
/**
 * How long a unary call's authentication lasts. If its body ends later, the call is authenticated again. Most bodies
 * end at once.
 */
const AUTHENTICATION_TTL_MS = 1_000;
const BEARER = /^bearer +(\S+)$/i;

/**
 * Creates the check that a caller may make a call. An API key is counted and checked in the contract's order: the
 * client's address, the key, the account's state, the account's limit. An internal service needs a credential with the
 * call's permission.
 */
export function createAuthenticate(
  admission: Admission,
  credentials: ServiceCredentials,
  findService: FindService,
  logOutage: OutageLog,
): Authenticate {
  return async (call) => {
    const access = findService(call.service).accessOf(call.method);
    if (access === Access.Open) return;
    if (access === Access.Client) return admitClient(call);
    if (access === Access.Browser || access === Access.Session) throw forBrowsers();
    if (access === Permission.ClientAddressForward) return authenticateGateway(call);
    if (access !== Access.Reader) return authenticateService(call, access);
    const bearer = bearerOf(call);
    if (bearer !== undefined && credentials.isCredentialText(bearer)) {
      return authenticateService(call, Permission.ActivityRead);
    }
    await admitApiKey(call, bearer);
  };

  async function authenticateService(call: Call, permission: Permission): Promise<void> {
    const bearer = bearerOf(call);
    // A dispatcher or worker in this process needs no credential, because it forwards no other caller's input.
    if (permission === Permission.DeliveryDispatch && call.contextValues.get(inProcessKey)) {
      call.contextValues.set(callerKey, { kind: "service", name: "in process" });
      return;
    }
    const credential = await findCredential(call, "authorization: Bearer", bearer);
    const { name, accountId } = credential;
    call.contextValues.set(fromServiceKey, true);
    // Set before the check, because the audit log also names callers without the permission.
    call.contextValues.set(callerKey, { kind: "service", name, accountId });
    checkPermission(credential, permission);
  }

  /**
   * A gateway sends its credential in a second header, in addition to its client's. The credential must be for all
   * accounts.
   */
  async function authenticateGateway(call: Call): Promise<void> {
    if (call.contextValues.get(inProcessKey)) return;
    const shown = call.header.get("x-service-credential") ?? undefined;
    const credential = await findCredential(call, "x-service-credential:", shown);
    checkPermission(credential, Permission.ClientAddressForward);
    checkAccount(credential.accountId, undefined);
    call.contextValues.set(fromServiceKey, true);
  }

  /** Finds the credential from `header`. Throws if it does not work. */
  async function findCredential(
    call: Call,
    header: string,
    shown: string | undefined,
  ): Promise<ServiceCredential> {
    const credential =
      shown === undefined
        ? undefined
        : await credentials.find(shown, () => countUnknown(admission, call, logOutage));
    if (credential === undefined) {
      throw new DomainError(
        ErrorCode.InvalidServiceCredential,
        `This call needs \`${header} <service credential>\` with a credential that is neither expired nor revoked.`,
      );
    }
    // Call this before any other `await`. During an `await`, a flood of new connections could cut this connection.
    call.contextValues.get(keepConnectionKey)();
    return credential;
  }

  function checkPermission({ permissions }: ServiceCredential, permission: Permission): void {
    if (permissions.has(permission)) return;
    throw new DomainError(
      ErrorCode.PermissionDenied,
      `This call needs a service credential with the permission ${permission}.`,
    );
  }

  async function admitClient(call: Call): Promise<void> {
    const client = clientBucket(await clientAddressOf(call));
    throwIfRefused(await asSpan(call, () => admission.admit({ client, signal: call.signal })));
  }

  async function admitApiKey(call: Call, bearer: string | undefined): Promise<void> {
    const client = clientBucket(await clientAddressOf(call));
    const keyHash = bearer !== undefined && isApiKeyText(bearer) ? hashApiKey(bearer) : undefined;
    const { signal } = call;
    const wasCounted = wasCountedBefore(call);
    const result = await asSpan(call, () =>
      admission.admit({ client, signal, wasCounted, ...(keyHash && { keyHash }) }),
    );
    if ("window" in result) call.contextValues.set(rateWindowKey, result.window);
    throwIfRefused(result);
    if (!("apiKey" in result)) throw invalidApiKey();
    call.contextValues.set(callerKey, { kind: "api_key", apiKey: result.apiKey });
  }

  /**
   * Returns the address that a gateway forwards, or else the socket's. If the gateway's credential does not work, the
   * call fails. If it were served instead, the gateway's address would count for all its clients.
   */
  async function clientAddressOf(call: Call): Promise<string> {
    const forwarded = call.header.get("x-client-address");
    if (forwarded === null) return call.contextValues.get(peerAddressKey) ?? "";
    await authenticateGateway(call);
    return forwarded;
  }
}

/** Tells whether a gateway says that its request was counted before it waited. Ignores any other caller's header. */
function wasCountedBefore({ header, contextValues }: Call): boolean {
  const isGateway =
    header.has("x-client-address") &&
    (contextValues.get(inProcessKey) || contextValues.get(fromServiceKey));
  return isGateway && header.has("x-request-counted");
}

/**
 * Counts a credential or session that is not known yet, because its look-up costs as much as an API key's. Over the
 * limit it throws OverloadedError. It does not call the credential wrong, because it looked nothing up. While Redis is
 * away or refuses, nothing is counted, and the limits of connections bound the look-ups. ADR 0037
 */
export async function countUnknown(
  admission: Admission,
  call: Call,
  logOutage: OutageLog,
): Promise<void> {
  const client = clientBucket(call.contextValues.get(peerAddressKey) ?? "");
  try {
    // Leaves out the call's signal, because other calls may wait for the same count.
    const { kind } = await admission.admit({ client });
    if (kind === "client_refused") throw new OverloadedError();
  } catch (error) {
    // Ends without a count: services and sessions continue without Redis, also after a core's restart.
    if (!isOfLimiter(error)) throw error;
    logOutage("the limiter could not count a credential or session", error);
  }
}

/** Runs an admission in its own span, because over a wire it runs before the call's span is made. */
function asSpan<Result>(call: Call, admit: () => Promise<Result>): Promise<Result> {
  return inSpan("admission", { parent: traceparentOf(call) }, admit);
}

function bearerOf(call: Call): string | undefined {
  return BEARER.exec(call.header.get("authorization") ?? "")?.[1];
}

export function throwIfRefused(result: AdmissionResult): void {
  switch (result.kind) {
    case "admitted":
    case "client_admitted":
    case "still_admitted":
      return;
    case "unknown_key":
      throw invalidApiKey();
    case "account_unavailable":
      throw new DomainError(
        ErrorCode.AccountUnavailable,
        "The account is blocked, deleted or not verified. Ask the operator.",
      );
    case "client_refused":
      throw new ClientRefusedError(
        CLIENT_REFUSED,
        result.untilMs && result.untilMs - performance.now(),
      );
    case "account_refused":
      throw new DomainError(ErrorCode.RateLimitExceeded, ACCOUNT_REFUSED);
  }
}

function forBrowsers(): DomainError {
  return new DomainError(
    ErrorCode.PermissionDenied,
    "Only the dashboard may make this call, at the address of DASHBOARD_URL.",
  );
}

function invalidApiKey(): DomainError {
  return new DomainError(
    ErrorCode.InvalidApiKey,
    "The API key is missing, invalid, expired or revoked.",
  );
}

/** Authenticates calls of this process. Calls over a wire are authenticated before their body is read. */
export function authenticateEach(authenticate: Authenticate): Interceptor {
  return (next) => async (request) => {
    await authenticate(request);
    return next(request);
  };
}

/**
 * Authenticates a caller again, because its credential or session may end during the call. A stream is authenticated
 * before each message that it sends or gets, a unary call only if its body ends late. API keys are not authenticated
 * again, because they would be counted each time. No stream takes an API key. ADR 0033
 */
export function authenticateAgain(authenticate: Authenticate): Interceptor {
  return (next) => async (request) => {
    if (!request.stream) {
      if (mayHaveEnded(request)) await authenticate(request);
      return next(request);
    }
    async function* authenticated<T>(messages: AsyncIterable<T>): AsyncGenerator<T, void> {
      for await (const message of messages) {
        await authenticate(request);
        yield message;
      }
    }
    const response = await next({ ...request, message: authenticated(request.message) });
    if (!response.stream) return response;
    return { ...response, message: authenticated(response.message) };
  };
}

/** Tells whether a call's credential or session was authenticated too long ago. */
function mayHaveEnded({ contextValues }: Call): boolean {
  const ageMs = performance.now() - contextValues.get(authenticatedAtKey);
  if (ageMs <= AUTHENTICATION_TTL_MS) return false;
  const kind = contextValues.get(callerKey)?.kind;
  return kind === "service" || kind === "session";
}
