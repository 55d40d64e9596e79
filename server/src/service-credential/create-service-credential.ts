import type { Permission } from "../caller.ts";
import { createPool } from "../database/pool.ts";
import { newId } from "../ids.ts";
import { newServiceCredential } from "./service-credential.ts";
import { insertServiceCredential } from "./service-credential-store.ts";

/**
 * Creates a credential for an internal service in the database at `url` and returns its text, this once:
 * only its hash is stored.
 */
export async function createServiceCredential(
  url: string,
  name: string,
  permissions: readonly Permission[],
): Promise<string> {
  const pool = createPool(url, 1);
  try {
    const { secret, hash } = newServiceCredential();
    const credential = { id: newId(), name, permissions: new Set(permissions) };
    await insertServiceCredential(pool, credential, hash);
    return secret;
  } finally {
    await pool.end();
  }
}
