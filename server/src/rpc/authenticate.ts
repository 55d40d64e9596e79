import { setTimeout as wait } from "node:timers/promises";
import { clientBucket } from "@activity/runtime/client-bucket";
import { REFUSAL_DELAY_MS } from "@activity/runtime/refused-clients";
import { inSpan } from "@activity/runtime/traces";
import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import {
  ACCOUNT_LIMIT,
  type Admission,
  type AdmissionResult,
  CLIENT_LIMIT,
} from "../admission/admission.ts";
import { callerKey, fromServiceKey, inProcessKey, peerAddressKey } from "../admission/caller.ts";
import { WINDOW_SECONDS } from "../admission/rate-window.ts";
import { hashApiKey, isApiKeyText } from "../api-key/api-key.ts";
import { ClientRefusedError, DomainError, ErrorCode } from "../common/errors.ts";
import { OverloadedError } from "../common/overloaded-error.ts";
import { Permission } from "../service-credential/permission.ts";
import type { ServiceCredential } from "../service-credential/service-credential-store.ts";
import type { ServiceCredentials } from "../service-credential/service-credentials.ts";
import { Access } from "./access.ts";
import { checkAccount } from "./account-scope.ts";
import { rateWindowKey } from "./rate-limit-headers.ts";
import type { FindService } from "./registered-service.ts";
import { traceparentOf } from "./traceparent.ts";

/** The head of a call. */
export type Call = Pick<
  UnaryRequest | StreamRequest,
  "service" | "method" | "header" | "signal" | "contextValues"
>;
/** Throws when the call may not be made. Else sets its caller, if it has one. */
export type Authenticate = (call: Call) => Promise<void>;

const TOO_MANY = `Too many requests: ${CLIENT_LIMIT} from one address and ${ACCOUNT_LIMIT} for one account are admitted in ${WINDOW_SECONDS} seconds; try again after ${WINDOW_SECONDS} seconds.`;
const BEARER = /^bearer +(\S+)$/i;

/**
 * Lets a call through to its service when its caller may make it. An API key is counted and checked in the
 * contract's order: the client's address, the key, the account's state, the account's limit. An internal
 * service shows its credential, which must carry the permission that the called service asks for.
 */
export function createAuthenticate(
  admission: Admission,
  credentials: ServiceCredentials,
  findService: FindService,
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
    // Nobody's word comes through a dispatcher or worker of this very process but its own.
    if (permission === Permission.DeliveryDispatch && call.contextValues.get(inProcessKey)) {
      call.contextValues.set(callerKey, { kind: "service", name: "in process" });
      return;
    }
    const credential = await findCredential(call, "authorization: Bearer", bearer);
    const { name, accountId } = credential;
    call.contextValues.set(fromServiceKey, true);
    // Before the permission is checked: the audit log names who lacks it.
    call.contextValues.set(callerKey, { kind: "service", name, accountId });
    checkPermission(credential, permission);
  }

  /** A gateway shows its credential beside those of its clients. Its calls are about no account. */
  async function authenticateGateway(call: Call): Promise<void> {
    if (call.contextValues.get(inProcessKey)) return;
    const shown = call.header.get("x-service-credential") ?? undefined;
    const credential = await findCredential(call, "x-service-credential:", shown);
    checkPermission(credential, Permission.ClientAddressForward);
    checkAccount(credential.accountId, undefined);
    call.contextValues.set(fromServiceKey, true);
  }

  /** Finds the credential that is shown in `header`; throws when it does not work. */
  async function findCredential(
    call: Call,
    header: string,
    shown: string | undefined,
  ): Promise<ServiceCredential> {
    const credential =
      shown === undefined
        ? undefined
        : await credentials.find(shown, () => countUnknown(admission, call));
    if (credential === undefined) {
      throw new DomainError(
        ErrorCode.InvalidServiceCredential,
        `This call needs \`${header} <service credential>\` with a credential that is neither expired nor revoked.`,
      );
    }
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
   * The address of the socket, or the one that a gateway forwards. A gateway's word counts or fails
   * the call, because its socket's address would stand for all of its clients.
   */
  async function clientAddressOf(call: Call): Promise<string> {
    const forwarded = call.header.get("x-client-address");
    if (forwarded === null) return call.contextValues.get(peerAddressKey) ?? "";
    await authenticateGateway(call);
    return forwarded;
  }
}

/** A gateway counts a request that waits once, when it comes. The word of any other caller does not count. */
function wasCountedBefore({ header, contextValues }: Call): boolean {
  const isGateway =
    header.has("x-client-address") &&
    (contextValues.get(inProcessKey) || contextValues.get(fromServiceKey));
  return isGateway && header.has("x-request-counted");
}

/**
 * A credential or session that is made up costs a look-up, as an API key does, and counts as one does. Over the
 * limit nobody is told that it does not work: it may, and was not looked for.
 */
export async function countUnknown(admission: Admission, call: Call): Promise<void> {
  const client = clientBucket(call.contextValues.get(peerAddressKey) ?? "");
  // Without the call's signal: others may wait for the same count.
  const { kind } = await admission.admit({ client });
  if (kind === "client_refused") {
    await wait(REFUSAL_DELAY_MS);
    throw new OverloadedError();
  }
}

/** Over a wire admission comes before the call's own span. */
function asSpan<Result>(call: Call, admit: () => Promise<Result>): Promise<Result> {
  return inSpan("admission", { parent: traceparentOf(call) }, admit);
}

function bearerOf(call: Call): string | undefined {
  return BEARER.exec(call.header.get("authorization") ?? "")?.[1];
}

/** Throws what is told of a request that was not admitted. */
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
        "The account is unavailable or not verified.",
      );
    case "client_refused":
      throw new ClientRefusedError(TOO_MANY, result.untilMs && result.untilMs - performance.now());
    case "account_refused":
      throw new DomainError(ErrorCode.RateLimitExceeded, TOO_MANY);
  }
}

function forBrowsers(): DomainError {
  return new DomainError(
    ErrorCode.PermissionDenied,
    "This call is for the dashboard in a browser, which makes it at the address of DASHBOARD_URL.",
  );
}

function invalidApiKey(): DomainError {
  return new DomainError(
    ErrorCode.InvalidApiKey,
    "The API key is missing, invalid, expired or revoked.",
  );
}

/** Authenticates calls that have no body to read first: those of this very process. */
export function authenticateEach(authenticate: Authenticate): Interceptor {
  return (next) => async (request) => {
    await authenticate(request);
    return next(request);
  };
}
