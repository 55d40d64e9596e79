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

/** Manages service credentials for operators' tools, which connect to the database directly. */
export type CredentialAdministration = {
  /**
   * Creates a credential that expires in `validityDays`. Returns its text only this once, because only its hash is
   * stored. Fails with `invalid_parameter` if its name is taken, and with `account_not_found` if its account does not
   * exist.
   */
  create(credential: ServiceCredential, validityDays: number): Promise<string>;
  /** Lists all credentials, revoked and expired ones too, oldest first. */
  list(): Promise<ListedServiceCredential[]>;
  /** Revokes a credential, which is then refused within five seconds. Returns whether it exists. */
  revoke(name: string): Promise<boolean>;
  /** Makes the credential with this text expire 90 days from now. Returns false unless it is active. */
  renew(text: string): Promise<boolean>;
  close(): Promise<void>;
};

/** Opens the administration of the database at `url`. */
export function administerServiceCredentials(url: string): CredentialAdministration {
  const pool = createPool(url, 1);
  return {
    async create(credential, validityDays) {
      // Checks the account, because a credential for an unknown one would be refused everywhere, without a visible
      // reason.
      if (credential.accountId !== undefined) {
        checkAccountId(credential.accountId);
        await readAccount(pool, credential.accountId);
      }
      const { secret, hash } = newServiceCredential();
      if (await insertServiceCredential(pool, credential, validityDays, hash)) return secret;
      throw new DomainError(
        ErrorCode.InvalidParameter,
        `name accepts only a name that no service credential ever had, and ${credential.name} is taken: number it, such as ${credential.name}-2.`,
      );
    },
    list: () => listServiceCredentials(pool),
    revoke: (name) => revokeServiceCredential(pool, name),
    renew: (text) =>
      renewServiceCredential(pool, hashServiceCredential(text), DEFAULT_VALIDITY_DAYS),
    close: () => pool.end(),
  };
}

/** Creates a credential of 90 days in the database at `url`, for all accounts or one. Returns its text. */
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
