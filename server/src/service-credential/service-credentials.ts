import type { Pool } from "../database/pool.ts";
import { hashServiceCredential, isServiceCredentialText } from "./service-credential.ts";
import { findServiceCredentialByHash, type ServiceCredential } from "./service-credential-store.ts";

/** How long a credential that was found is believed without asking again: a revoked one ends by then. */
const BELIEVED_MS = 5_000;

/** Looks up what internal services show. */
export type ServiceCredentials = {
  /** Whether a text has the form of a service credential. */
  isCredentialText(text: string): boolean;
  /** Finds a credential that is not revoked, or was not up to five seconds ago. */
  find(text: string): Promise<ServiceCredential | undefined>;
};

/** Creates the look-up; `nowMs` is a clock that never steps. */
export function createServiceCredentials(pool: Pool, nowMs: () => number): ServiceCredentials {
  // Only credentials that exist are kept, so it holds no more entries than there are credentials.
  const known = new Map<string, { credential: ServiceCredential; untilMs: number }>();

  async function find(text: string): Promise<ServiceCredential | undefined> {
    if (!isServiceCredentialText(text)) return undefined;
    const hash = hashServiceCredential(text);
    const id = hash.toString("latin1");
    const entry = known.get(id);
    if (entry !== undefined && nowMs() < entry.untilMs) return entry.credential;
    const credential = await findServiceCredentialByHash(pool, hash);
    if (credential === undefined) known.delete(id);
    else known.set(id, { credential, untilMs: nowMs() + BELIEVED_MS });
    return credential;
  }

  return { isCredentialText: isServiceCredentialText, find };
}
