import type { Pool } from "../database/pool.ts";
import { hashServiceCredential, isServiceCredentialText } from "./service-credential.ts";
import { findServiceCredentialByHash, type ServiceCredential } from "./service-credential-store.ts";

/** How long a credential that was found is not looked for again: one that is revoked or expired ends by then. */
const CACHE_TTL_MS = 5_000;

/** Looks up what internal services show. */
export type ServiceCredentials = {
  /** Whether a text has the form of a service credential. */
  isCredentialText(text: string): boolean;
  /**
   * Finds a credential that is neither revoked nor expired, or was neither up to five seconds ago. Before one
   * that was never found is looked for, `count` counts it, or throws. Calls that show one credential at the same
   * moment share one look-up, and count as one.
   */
  find(text: string, count: () => Promise<void>): Promise<ServiceCredential | undefined>;
};

/** Creates the look-up; `nowMs` is a clock that never steps. */
export function createServiceCredentials(pool: Pool, nowMs: () => number): ServiceCredentials {
  // Only credentials that exist are kept, so it holds no more entries than there are credentials.
  const known = new Map<string, { credential: ServiceCredential; untilMs: number }>();
  const inFlight = new Map<string, Promise<ServiceCredential | undefined>>();

  async function find(text: string, count: () => Promise<void>) {
    if (!isServiceCredentialText(text)) return undefined;
    const hash = hashServiceCredential(text);
    const id = hash.toString("latin1");
    const entry = known.get(id);
    if (entry !== undefined && nowMs() < entry.untilMs) return entry.credential;
    const shared = inFlight.get(id);
    if (shared !== undefined) return shared;
    const found = lookUp(hash, id, entry === undefined ? count : undefined);
    inFlight.set(id, found);
    return found.finally(() => inFlight.delete(id));
  }

  async function lookUp(hash: Buffer, id: string, count: (() => Promise<void>) | undefined) {
    await count?.();
    const credential = await findServiceCredentialByHash(pool, hash);
    if (credential === undefined) known.delete(id);
    else known.set(id, { credential, untilMs: nowMs() + CACHE_TTL_MS });
    return credential;
  }

  return { isCredentialText: isServiceCredentialText, find };
}
