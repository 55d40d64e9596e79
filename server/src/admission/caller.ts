import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { ReadAccount } from "../account/read-account-store.ts";
import type { ApiKeyRecord } from "./admission.ts";
import type { SessionScope } from "./session-scope.ts";

/** A session of the dashboard that has not ended, with its account, which is neither blocked nor deleted. */
export type SessionRecord = {
  readonly hash: Buffer;
  readonly account: ReadAccount;
  readonly scopes: readonly SessionScope[];
  readonly expiresAtMicros: number;
  /** Where the service that made its link wants its owner to go back to. */
  readonly returnUrl: string | undefined;
};

/** Who makes a call: the holder of an account's API key, its owner in the dashboard, or an internal service. */
export type Caller =
  | { readonly kind: "api_key"; readonly apiKey: ApiKeyRecord }
  | { readonly kind: "session"; readonly session: SessionRecord }
  | {
      readonly kind: "service";
      readonly name: string;
      /** The one account that its credential is for; without it, all accounts. */
      readonly accountId?: string | undefined;
    };

/** The caller of a call, set by the authenticate interceptor before any service runs. */
export const callerKey = createContextKey<Caller | undefined>(undefined, {
  description: "caller",
});

/** Returns the session of a call that only sessions may make. */
export function sessionOf({ values }: Pick<HandlerContext, "values">): SessionRecord {
  const caller = values.get(callerKey);
  if (caller?.kind !== "session") throw new Error("a call for sessions came through without one");
  return caller.session;
}

/** The address of the socket a call came in on; absent for calls from inside the process. */
export const peerAddressKey = createContextKey<string | undefined>(undefined, {
  description: "peer address",
});

/** Keeps the connection that a call came in on, because its caller authenticated. */
export const keepConnectionKey = createContextKey<() => void>(() => {}, {
  description: "keep connection",
});

/**
 * Whether who sends the call is an internal service that showed a working credential: its caller, or the gateway before
 * it. Its word on the trace that the call is part of counts.
 */
export const fromServiceKey = createContextKey<boolean>(false, { description: "from a service" });

/** Whether the call comes from a gateway in this very process, whose word on the client's address counts. */
export const inProcessKey = createContextKey<boolean>(false, { description: "in process" });
