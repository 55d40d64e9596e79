import type { ReadAccount } from "../account/read-account-store.ts";
import type { RateWindow } from "./rate-window.ts";

/** Requests admitted of one client address in any 60 seconds. §8 */
export const CLIENT_LIMIT = 300;
/** Requests admitted of one account in any 60 seconds, whatever key they show. §8 */
export const ACCOUNT_LIMIT = 120;

/** One request to count: by its client, and by the account of its API key where it shows one. */
export type AdmissionRequest = {
  /** The client's bucket, from `clientBucket`. */
  readonly client: Buffer;
  readonly keyHash?: Buffer;
  /** Whether it was counted before: its key and account are checked again, and nothing is counted. */
  readonly wasCounted?: boolean;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
};

/** A working API key as it is now, with its account. */
export type ApiKeyRecord = {
  readonly prefix: string;
  readonly expiresAtMicros: number;
  readonly account: ReadAccount;
};

/** What became of a request, in the order of the checks: what an earlier one refused is not counted on. */
export type AdmissionResult =
  /**
   * Until `untilMs`, in the steady clock of this process, the client's window takes no other; undefined for one that
   * was refused because as many as its limit wait.
   */
  | { readonly kind: "client_refused"; readonly untilMs: number | undefined }
  | { readonly kind: "client_admitted" }
  | { readonly kind: "unknown_key" }
  | { readonly kind: "account_unavailable" }
  | { readonly kind: "account_refused"; readonly window: RateWindow }
  | { readonly kind: "admitted"; readonly apiKey: ApiKeyRecord; readonly window: RateWindow }
  /** It was counted before, and its key and account may still read. */
  | { readonly kind: "still_admitted"; readonly apiKey: ApiKeyRecord };

/**
 * Counts requests in a place that all instances share, and looks their API keys up. `admit` rejects when
 * that place cannot be reached: nobody is admitted uncounted. §7
 */
export interface Admission {
  /** Resolves when that place can be asked, or the first try to reach it has failed; never rejects. */
  readonly ready: Promise<void>;
  admit(request: AdmissionRequest): Promise<AdmissionResult>;
  close(): Promise<void>;
}
