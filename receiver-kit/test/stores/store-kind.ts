import type { Claims } from "../../src/once/claims.ts";
import type { LeaseOptions } from "../../src/once/lease-store.ts";
import type { OnceStore } from "../../src/once/once-store.ts";

/** A store over one connected client. */
export interface OpenStore {
  readonly claims: Claims;
  createStore(options?: LeaseOptions): OnceStore<unknown>;
  /** Commits the work with the mark; absent where the store has no transactions. */
  createTransactionStore?(): OnceStore<unknown>;
  /** Within a transaction store's work: leaves a trace that commits or rolls back with it. */
  leaveTrace?(context: unknown, eventId: string): Promise<void>;
  countTraces?(eventId: string): Promise<number>;
  close(): Promise<void>;
}

/** Opens a store of one kind at `url`. Another process does the same from the same arguments. */
export type OpenStoreAt = (url: string) => Promise<OpenStore>;

/** What a conformance run is given by the store's test file. */
export interface Subject {
  open(): Promise<OpenStore>;
  /** Where other processes find the same store; undefined where they cannot. */
  url(): string | undefined;
}
