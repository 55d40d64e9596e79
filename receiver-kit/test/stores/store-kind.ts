import type { Claims } from "../../src/once/claims.ts";
import type { LeaseOptions } from "../../src/once/lease-store.ts";
import type { OnceStore } from "../../src/once/once-store.ts";

/** A store with one connected client. */
export interface OpenStore {
  readonly claims: Claims;
  createStore(options?: LeaseOptions): OnceStore<unknown>;
  /** Creates a store that commits the work with the mark; absent if the kind of store has no transactions. */
  createTransactionStore?(): OnceStore<unknown>;
  /** Called in the work: writes a trace that commits or rolls back with the work. */
  leaveTrace?(context: unknown, eventId: string): Promise<void>;
  countTraces?(eventId: string): Promise<number>;
  close(): Promise<void>;
}

/** Opens a store at `url`. Other processes open the same store with the same URL. */
export type OpenStoreAt = (url: string) => Promise<OpenStore>;

/** The store that a conformance run tests. */
export interface Subject {
  open(): Promise<OpenStore>;
  /** Returns the URL for other processes; undefined if they cannot share the store. */
  url(): string | undefined;
}
