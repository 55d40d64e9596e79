import type { ReadAccount } from "../account/read-account-store.ts";
import type { RateWindow } from "./rate-window.ts";

/** Maximum requests that are admitted from one client address in any 60 seconds. §8 */
export const CLIENT_LIMIT = 300;
/** Maximum requests that are admitted for one account in any 60 seconds, by all its keys together. §8 */
export const ACCOUNT_LIMIT = 120;

/** A request to count: for its client and, if it shows an API key, for the key's account. */
export type AdmissionRequest = {
  /** The client's bucket, from `clientBucket`. */
  readonly client: Buffer;
  readonly keyHash?: Buffer;
  /** Whether the request was counted before. If so, only its key and account are checked again. */
  readonly wasCounted?: boolean;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
};

/** A valid API key, with its account. */
export type ApiKeyRecord = {
  readonly prefix: string;
  readonly expiresAtMicros: number;
  readonly account: ReadAccount;
};

/** The outcomes of a request, in the order of the checks. After a refusal, later limits do not count the request. */
export type AdmissionResult =
  /**
   * The client's window is full until `untilMs`, by this process's steady clock. `untilMs` is undefined if the client
   * has too many waiting requests, or its network is over its limit.
   */
  | { readonly kind: "client_refused"; readonly untilMs: number | undefined }
  | { readonly kind: "client_admitted" }
  | { readonly kind: "unknown_key" }
  | { readonly kind: "account_unavailable" }
  | { readonly kind: "account_refused"; readonly window: RateWindow }
  | { readonly kind: "admitted"; readonly apiKey: ApiKeyRecord; readonly window: RateWindow }
  /** The request was counted before. Its key and account may still read. */
  | { readonly kind: "still_admitted"; readonly apiKey: ApiKeyRecord };

/**
 * Counts requests in a store that all instances share, and looks up their API keys. `admit` rejects if the store
 * cannot be reached, so no request is admitted uncounted. §7
 */
export interface Admission {
  /** Resolves when the store can be reached, or when the first try has failed. Never rejects. */
  readonly ready: Promise<void>;
  admit(request: AdmissionRequest): Promise<AdmissionResult>;
  close(): Promise<void>;
}
