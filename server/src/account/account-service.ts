import type { AccountSchema, AccountService } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { auditNowKey } from "../common/audit-now.ts";
import { externalIdBytes, parseStoredText } from "../common/stored-text.ts";
import type { Packets } from "../database/packet.ts";
import type { Pool } from "../database/pool.ts";
import type { LockedAccount } from "../write/locked-account.ts";
import type { Decision } from "../write/write.ts";
import type { Writer } from "../write/writer.ts";
import { endSessions } from "./account-sessions-store.ts";
import {
  type AccountRecord,
  accountsBy,
  markVerified,
  readAccount,
  readAccountByUsername,
  updateBlocked,
} from "./account-store.ts";
import { putAccount } from "./put-account.ts";

/**
 * Creates the service that manages accounts. `deleteAccount` deletes an account with all its data, and calls `onEnded`
 * when access to the account has ended.
 */
export function createAccountService(
  pool: Pool,
  packets: Packets,
  { write }: Writer,
  deleteAccount: (accountId: string, onEnded: () => void) => Promise<void>,
): ServiceImpl<typeof AccountService> {
  async function changeAccount(
    accountId: string,
    decide: (stored: AccountRecord, account: LockedAccount) => Decision<AccountRecord>,
  ) {
    const account = await write({
      accountId,
      load: (accountNo) => ({ accounts: accountsBy([accountNo]) }),
      decide({ accounts: [stored] }, locked) {
        if (stored === undefined) throw new Error("a locked account was not found");
        return decide(stored, locked);
      },
    });
    return { account: accountToProto(account) };
  }

  return {
    async putAccount(request) {
      const account = await putAccount(packets, {
        externalId: externalIdBytes(request.externalId, "external_id"),
        username: request.username,
        displayName: parseStoredText(request.displayName, "display_name"),
      });
      return { account: accountToProto(account) };
    },

    async getAccount({ accountId, username }) {
      const account =
        username === undefined
          ? await readAccount(pool, accountId)
          : await readAccountByUsername(pool, username);
      return { account: accountToProto(account) };
    },

    verifyAccount: ({ accountId }) =>
      changeAccount(accountId, (stored, { accountNo, nowMicros }) => ({
        answer: { ...stored, verified: true },
        // A repeated verification keeps the time of the first.
        changes: stored.verified ? [] : [markVerified(accountNo, nowMicros)],
      })),

    blockAccount: ({ accountId }) =>
      changeAccount(accountId, (stored, { accountNo, nowMicros }) => ({
        answer: { ...stored, blocked: true },
        changes: stored.blocked
          ? []
          : [updateBlocked(accountNo, nowMicros), ...endSessions(accountNo)],
      })),

    unblockAccount: ({ accountId }) =>
      changeAccount(accountId, (stored, { accountNo }) => ({
        answer: { ...stored, blocked: false },
        changes: [updateBlocked(accountNo, null)],
      })),

    async deleteAccount({ accountId }, { values }) {
      // Logs the deletion before the purge, which takes minutes and can fail. The audit log must not lose it.
      await deleteAccount(accountId, values.get(auditNowKey));
      return {};
    },
  };
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
