import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import {
  ACCOUNT_LIMIT,
  type Admission,
  type AdmissionResult,
  CLIENT_LIMIT,
} from "../admission/admission.ts";
import { clientBucket } from "../admission/client-bucket.ts";
import { WINDOW_SECONDS } from "../admission/rate-window.ts";
import { hashApiKey, isApiKeyText } from "../api-key/api-key.ts";
import { callerKey, inProcessKey, Permission, peerAddressKey } from "../caller.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import type { ServiceCredential } from "../service-credential/service-credential-store.ts";
import type { ServiceCredentials } from "../service-credential/service-credentials.ts";
import { Access, accessOf } from "./access.ts";
import { rateWindowKey } from "./rate-limit-headers.ts";

type Request = UnaryRequest | StreamRequest;

const BEARER = /^bearer +(\S+)$/i;

/**
 * Lets a call through to its service when its caller may make it. An API key is counted and checked in the
 * contract's order: the client's address, the key, the account's state, the account's limit. An internal
 * service shows its credential, which must carry the permission that the called service asks for.
 */
export function createAuthenticate(
  admission: Admission,
  credentials: ServiceCredentials,
): Interceptor {
  return (next) => async (request) => {
    const access = accessOf(request.service.typeName, request.method.name);
    if (access === Access.Open) return next(request);
    if (access === Access.Client) {
      await admitClient(request);
      return next(request);
    }
    if (access !== Access.Reader) {
      await authenticateService(request, access);
      return next(request);
    }
    const bearer = bearerOf(request);
    if (bearer !== undefined && credentials.isCredentialText(bearer)) {
      await authenticateService(request, Permission.ActivityRead);
      return next(request);
    }
    await admitApiKey(request, bearer);
    return next(request);
  };

  async function authenticateService(request: Request, permission: Permission): Promise<void> {
    const bearer = bearerOf(request);
    // Nobody's word comes through a dispatcher or worker of this very process but its own.
    if (permission === Permission.DeliveryDispatch && request.contextValues.get(inProcessKey)) {
      request.contextValues.set(callerKey, { kind: "service", name: "in process" });
      return;
    }
    const { name } = await findHolder("authorization: Bearer", bearer, permission);
    request.contextValues.set(callerKey, { kind: "service", name });
  }

  /** Finds who shows a credential in `header`; throws when it does not work or lacks the permission. */
  async function findHolder(
    header: string,
    shown: string | undefined,
    permission: Permission,
  ): Promise<ServiceCredential> {
    const credential = shown === undefined ? undefined : await credentials.find(shown);
    if (credential === undefined) {
      throw new DomainError(
        ErrorCode.InvalidServiceCredential,
        `This call needs \`${header} <service credential>\` with a credential that is not revoked.`,
      );
    }
    if (!credential.permissions.has(permission)) {
      throw new DomainError(
        ErrorCode.PermissionDenied,
        `This call needs a service credential with the permission ${permission}.`,
      );
    }
    return credential;
  }

  async function admitClient(request: Request): Promise<void> {
    const client = clientBucket(await clientAddressOf(request));
    throwIfRefused(await admission.admit({ client, signal: request.signal }));
  }

  async function admitApiKey(request: Request, bearer: string | undefined): Promise<void> {
    const client = clientBucket(await clientAddressOf(request));
    const keyHash = bearer !== undefined && isApiKeyText(bearer) ? hashApiKey(bearer) : undefined;
    const { signal } = request;
    const result = await admission.admit({ client, signal, ...(keyHash && { keyHash }) });
    if ("window" in result) request.contextValues.set(rateWindowKey, result.window);
    throwIfRefused(result);
    if (result.kind !== "admitted") throw invalidApiKey();
    request.contextValues.set(callerKey, { kind: "api_key", apiKey: result.apiKey });
  }

  /**
   * The address of the socket, or what a gateway says, whose word counts or fails the call: the address of
   * its socket would stand for all of its clients at once.
   */
  async function clientAddressOf(request: Request): Promise<string> {
    const forwarded = request.header.get("x-client-address");
    if (forwarded === null) return request.contextValues.get(peerAddressKey) ?? "";
    if (request.contextValues.get(inProcessKey)) return forwarded;
    const shown = request.header.get("x-service-credential") ?? undefined;
    await findHolder("x-service-credential:", shown, Permission.ClientAddressForward);
    return forwarded;
  }
}

function bearerOf(request: Request): string | undefined {
  return BEARER.exec(request.header.get("authorization") ?? "")?.[1];
}

function throwIfRefused(result: AdmissionResult): void {
  switch (result.kind) {
    case "admitted":
    case "client_admitted":
      return;
    case "unknown_key":
      throw invalidApiKey();
    case "account_unavailable":
      throw new DomainError(
        ErrorCode.AccountUnavailable,
        "The account is unavailable or not verified.",
      );
    case "client_refused":
    case "account_refused":
      throw new DomainError(
        ErrorCode.RateLimitExceeded,
        `Too many requests: ${CLIENT_LIMIT} from one address and ${ACCOUNT_LIMIT} for one account are admitted in ${WINDOW_SECONDS} seconds; try again after ${WINDOW_SECONDS} seconds.`,
      );
  }
}

function invalidApiKey(): DomainError {
  return new DomainError(
    ErrorCode.InvalidApiKey,
    "The API key is missing, invalid, expired or revoked.",
  );
}
