import type { Permission } from "../caller.ts";
import { createPool } from "../database/pool.ts";
import { newId } from "../ids.ts";
import { newServiceCredential } from "./service-credential.ts";
import {
  insertServiceCredential,
  type ListedServiceCredential,
  listServiceCredentials,
  revokeServiceCredential,
} from "./service-credential-store.ts";

/** Keeps the credentials of internal services: for operators' tools, which run on the database itself. */
export type CredentialAdministration = {
  /** Creates a credential and returns its text, this once: only its hash is stored. */
  create(
    name: string,
    permissions: ReadonlySet<Permission>,
  ): Promise<{ readonly id: string; readonly secret: string }>;
  /** Lists all, oldest first, the revoked ones included. */
  list(): Promise<ListedServiceCredential[]>;
  /** Revokes one and returns whether there is one of this id; it is refused within seconds. */
  revoke(id: string): Promise<boolean>;
  close(): Promise<void>;
};

/** Opens the administration of the database at `url`. */
export function administerServiceCredentials(url: string): CredentialAdministration {
  const pool = createPool(url, 1);
  return {
    async create(name, permissions) {
      const { secret, hash } = newServiceCredential();
      const id = newId();
      await insertServiceCredential(pool, { id, name, permissions }, hash);
      return { id, secret };
    },
    list: () => listServiceCredentials(pool),
    revoke: (id) => revokeServiceCredential(pool, id),
    close: () => pool.end(),
  };
}

/** Creates one credential in the database at `url` and returns its text. */
export async function createServiceCredential(
  url: string,
  name: string,
  permissions: readonly Permission[],
): Promise<string> {
  const administration = administerServiceCredentials(url);
  try {
    return (await administration.create(name, new Set(permissions))).secret;
  } finally {
    await administration.close();
  }
}
