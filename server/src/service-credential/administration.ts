import { checkAccountId } from "../account/account-id.ts";
import { readAccount } from "../account/account-store.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { createPool } from "../database/pool.ts";
import type { Permission } from "./permission.ts";
import {
  DEFAULT_VALIDITY_DAYS,
  hashServiceCredential,
  newServiceCredential,
} from "./service-credential.ts";
import {
  insertServiceCredential,
  type ListedServiceCredential,
  listServiceCredentials,
  renewServiceCredential,
  revokeServiceCredential,
  type ServiceCredential,
} from "./service-credential-store.ts";

/** Keeps the credentials of internal services: for operators' tools, which run on the database itself. */
export type CredentialAdministration = {
  /**
   * Creates a credential that expires in `validityDays`, and returns its text, this once: only its hash is
   * stored. Fails with `invalid_parameter` when its name is taken, and with `account_not_found`.
   */
  create(credential: ServiceCredential, validityDays: number): Promise<string>;
  /** Lists all, oldest first, those that are revoked or expired included. */
  list(): Promise<ListedServiceCredential[]>;
  /** Revokes one and returns whether there is one of this name; it is refused within five seconds. */
  revoke(name: string): Promise<boolean>;
  /** Has the one of this text expire 90 days from now; returns false when it is no longer active. */
  renew(text: string): Promise<boolean>;
  close(): Promise<void>;
};

/** Opens the administration of the database at `url`. */
export function administerServiceCredentials(url: string): CredentialAdministration {
  const pool = createPool(url, 1);
  return {
    async create(credential, validityDays) {
      // One for an account that is not there would be refused everywhere, and nobody would know why.
      if (credential.accountId !== undefined) {
        checkAccountId(credential.accountId);
        await readAccount(pool, credential.accountId);
      }
      const { secret, hash } = newServiceCredential();
      if (await insertServiceCredential(pool, credential, validityDays, hash)) return secret;
      throw new DomainError(
        ErrorCode.InvalidParameter,
        `name accepts what no service credential was called before, and ${credential.name} is taken: number it, such as ${credential.name}-2.`,
      );
    },
    list: () => listServiceCredentials(pool),
    revoke: (name) => revokeServiceCredential(pool, name),
    renew: (text) =>
      renewServiceCredential(pool, hashServiceCredential(text), DEFAULT_VALIDITY_DAYS),
    close: () => pool.end(),
  };
}

/** Creates one credential of 90 days in the database at `url`, for all accounts or one; returns its text. */
export async function createServiceCredential(
  url: string,
  name: string,
  permissions: readonly Permission[],
  accountId?: string,
): Promise<string> {
  const administration = administerServiceCredentials(url);
  try {
    const credential = { name, permissions: new Set(permissions), accountId };
    return await administration.create(credential, DEFAULT_VALIDITY_DAYS);
  } finally {
    await administration.close();
  }
}
