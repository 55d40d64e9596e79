import { createLeaseStore, type LeaseContext, type LeaseOptions } from "../../once/lease-store.ts";
import type { OnceStore } from "../../once/once-store.ts";
import { createMemoryClaims } from "./claims.ts";

/** The options of the memory store. */
export interface MemoryStoreOptions extends LeaseOptions {
  /** Returns Unix time in milliseconds. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/**
 * Creates a store in this process's memory, for tests and for local development.
 *
 * It loses everything at a restart, and processes do not share it. In both cases, a repeated delivery is handled again.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): OnceStore<LeaseContext> {
  return createLeaseStore(createMemoryClaims(options.clock ?? Date.now), options);
}
