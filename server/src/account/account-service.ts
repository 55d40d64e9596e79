import type { AccountSchema, AccountService } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Pool } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { newId } from "../ids.ts";
import { externalIdBytes, parseStoredText } from "../stored-text.ts";
import { deleteAccount } from "./account-deletion.ts";
import {
  type AccountRecord,
  clearBlocked,
  insertAccount,
  lockAccount,
  lockAccountByExternalId,
  markBlocked,
  markVerified,
  type Profile,
  readAccount,
  readAccountByUsername,
  updateProfile,
} from "./account-store.ts";

/** Creates the service that keeps the accounts. */
export function createAccountService(pool: Pool): ServiceImpl<typeof AccountService> {
  async function change(
    accountId: string,
    statement: (tx: Transaction, accountNo: number) => Promise<void>,
  ) {
    return inTransaction(pool, async (tx) => {
      await statement(tx, await lockAccount(tx, accountId));
      return { account: accountToProto(await readAccount(tx, accountId)) };
    });
  }

  return {
    async putAccount(request) {
      const profile = {
        externalId: externalIdBytes(request.externalId, "external_id"),
        username: request.username,
        displayName: parseStoredText(request.displayName, "display_name"),
      };
      const id = await inTransaction(pool, (tx) => putProfile(tx, profile));
      return { account: accountToProto(await readAccount(pool, id)) };
    },

    async getAccount({ accountId, username }) {
      const account =
        username === undefined
          ? await readAccount(pool, accountId)
          : await readAccountByUsername(pool, username);
      return { account: accountToProto(account) };
    },

    verifyAccount: ({ accountId }) => change(accountId, markVerified),
    blockAccount: ({ accountId }) => change(accountId, markBlocked),
    unblockAccount: ({ accountId }) => change(accountId, clearBlocked),

    async deleteAccount({ accountId }) {
      await deleteAccount(pool, accountId);
      return {};
    },
  };
}

/** Stores a profile under its external id, and returns the account's id. Fails with `username_taken`. */
async function putProfile(tx: Transaction, profile: Profile): Promise<string> {
  const id = newId();
  let account = await lockAccountByExternalId(tx, profile.externalId);
  if (account === undefined) {
    if (await insertAccount(tx, id, profile)) return id;
    // Another call has stored it since it was looked for; if none has, it is the username that is taken.
    account = await lockAccountByExternalId(tx, profile.externalId);
  }
  if (account === undefined || !(await updateProfile(tx, account.accountNo, profile))) {
    throw new DomainError(ErrorCode.UsernameTaken, "Another account has this username.");
  }
  return account.id;
}

function accountToProto(account: AccountRecord): MessageInitShape<typeof AccountSchema> {
  return {
    id: account.id,
    externalId: account.externalId.toString("utf8"),
    username: account.username,
    displayName: account.displayName,
    verified: account.verified,
    blocked: account.blocked,
  };
}
