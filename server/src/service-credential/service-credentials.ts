import { LRUCache } from "lru-cache";
import type { Pool } from "../database/pool.ts";
import { hashServiceCredential, isServiceCredentialText } from "./service-credential.ts";
import { findServiceCredentialByHash, type ServiceCredential } from "./service-credential-store.ts";

/** How long a look-up's result is cached. A revoked or expired credential is refused after this time. */
const CACHE_TTL_MS = 5_000;
/** How many unknown credentials are cached. One more removes the oldest. */
const MAX_UNKNOWN = 1_000;

export type ServiceCredentials = {
  isCredentialText(text: string): boolean;
  /**
   * Finds a credential that is neither revoked nor expired. A cached credential may have been revoked or have expired
   * up to five seconds ago. Before it looks up a credential that it has not found before, it calls `count`, which may
   * throw. Concurrent calls with one credential share one look-up and one count. A credential that was not found is
   * neither counted nor looked up again for five seconds.
   */
  find(text: string, count: () => Promise<void>): Promise<ServiceCredential | undefined>;
};

/** Creates the look-up; `nowMs` is a clock that never steps. */
export function createServiceCredentials(pool: Pool, nowMs: () => number): ServiceCredentials {
  // Holds only existing credentials, so it needs no limit.
  const cache = new Map<string, { credential: ServiceCredential; untilMs: number }>();
  /**
   * The time until which an unknown credential is refused without a count. Otherwise a busy gateway with a revoked
   * credential would use up its address's limit, and would then not learn why it is refused. A credential exists before
   * anybody has its text, so this refuses no new one.
   */
  const unknownUntilMs = new LRUCache<string, number>({ max: MAX_UNKNOWN });
  const inFlight = new Map<string, Promise<ServiceCredential | undefined>>();

  async function find(text: string, count: () => Promise<void>) {
    if (!isServiceCredentialText(text)) return undefined;
    const hash = hashServiceCredential(text);
    const id = hash.toString("latin1");
    const entry = cache.get(id);
    if (entry !== undefined && nowMs() < entry.untilMs) return entry.credential;
    if (nowMs() < (unknownUntilMs.peek(id) ?? 0)) return undefined;
    const shared = inFlight.get(id);
    if (shared !== undefined) return shared;
    const found = lookUp(hash, id, entry === undefined ? count : undefined);
    inFlight.set(id, found);
    return found.finally(() => inFlight.delete(id));
  }

  async function lookUp(hash: Buffer, id: string, count: (() => Promise<void>) | undefined) {
    await count?.();
    // The time counts from before the look-up, because its answer can be late.
    const untilMs = nowMs() + CACHE_TTL_MS;
    const credential = await findServiceCredentialByHash(pool, hash);
    if (credential === undefined) {
      cache.delete(id);
      unknownUntilMs.set(id, untilMs);
    } else cache.set(id, { credential, untilMs });
    return credential;
  }

  return { isCredentialText: isServiceCredentialText, find };
}
