import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { ReadAccount } from "../account/read-account-store.ts";
import type { ApiKeyRecord } from "./admission.ts";
import type { SessionScope } from "./session-scope.ts";

/** An open dashboard session, with its account, which is neither blocked nor deleted. */
export type SessionRecord = {
  readonly hash: Buffer;
  readonly account: ReadAccount;
  readonly scopes: readonly SessionScope[];
  readonly expiresAtMicros: number;
  /** The URL that the service gave with the link, to lead the owner back. */
  readonly returnUrl: string | undefined;
};

/** Who makes a call: a holder of an account's API key, the account's owner in a browser, or an internal service. */
export type Caller =
  | { readonly kind: "api_key"; readonly apiKey: ApiKeyRecord }
  | { readonly kind: "session"; readonly session: SessionRecord }
  | {
      readonly kind: "service";
      readonly name: string;
      /** The only account that the service's credential is for. Undefined means all accounts. */
      readonly accountId?: string | undefined;
    };

/** The caller of a call. Authentication sets it before any service runs. */
export const callerKey = createContextKey<Caller | undefined>(undefined, {
  description: "caller",
});

/** Returns the session of a call that only sessions may make. */
export function sessionOf({ values }: Pick<HandlerContext, "values">): SessionRecord {
  const caller = values.get(callerKey);
  if (caller?.kind !== "session")
    throw new Error("a call that only sessions may make has no session");
  return caller.session;
}

/**
 * The address of the call's socket, or of the browser behind a trusted proxy. Calls from inside the process have
 * none.
 */
export const peerAddressKey = createContextKey<string | undefined>(undefined, {
  description: "peer address",
});

/** A function that keeps the call's connection open. The core calls it as soon as the caller has authenticated. */
export const keepConnectionKey = createContextKey<() => void>(() => {}, {
  description: "keep connection",
});

/**
 * Whether the call's sender showed a valid service credential. If so, the core trusts the sender's trace context. The
 * sender is a service that calls, or a gateway that forwards a client's call.
 */
export const fromServiceKey = createContextKey<boolean>(false, { description: "from a service" });

/**
 * Whether the call comes from inside this process, such as from a gateway. If so, the core trusts the client address
 * that the call forwards.
 */
export const inProcessKey = createContextKey<boolean>(false, { description: "in process" });

/**
 * When the gate began with a call over a wire, in milliseconds of `performance.now()`. Calls from inside the process
 * have none: they begin with the interceptors.
 */
export const startedAtKey = createContextKey<number | undefined>(undefined, {
  description: "started at",
});

/** When the gate authenticated a call over a wire, in milliseconds of `performance.now()`. */
export const authenticatedAtKey = createContextKey<number>(0, { description: "authenticated at" });
