import { createLeaseStore, type LeaseContext, type LeaseOptions } from "../../once/lease-store.ts";
import type { OnceStore } from "../../once/once-store.ts";
import { createMemoryClaims } from "./claims.ts";

/** How the memory store keeps what it knows, and by which clock. */
export interface MemoryStoreOptions extends LeaseOptions {
  /** Returns Unix time in milliseconds. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/**
 * Creates a store in this process's memory, for tests and for local development.
 *
 * It forgets everything on a restart and is not shared between processes: after either, a repeated
 * delivery is handled again.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): OnceStore<LeaseContext> {
  return createLeaseStore(createMemoryClaims(options.clock ?? Date.now), options);
}
