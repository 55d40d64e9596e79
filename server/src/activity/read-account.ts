import type { HandlerContext } from "@connectrpc/connect";
import { checkAccountId } from "../account/account-id.ts";
import { findReadAccount, type ReadAccount } from "../account/read-account-store.ts";
import { callerKey } from "../admission/caller.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import type { Pool } from "../database/pool.ts";

/**
 * Returns the account of a read call. An API key or a session determines it; an internal service names it. Fails with
 * `account_not_found` if the account does not exist. Fails with `invalid_parameter` if a service names no valid id, or
 * if a call with an API key names an id. §1
 */
export async function readAccountOf(
  pool: Pool,
  context: HandlerContext,
  accountId: string,
): Promise<ReadAccount> {
  const caller = context.values.get(callerKey);
  if (caller?.kind === "session") return caller.session.account;
  if (caller?.kind === "api_key") {
    if (accountId !== "") {
      throw new DomainError(
        ErrorCode.InvalidParameter,
        "account_id must be empty in a call with an API key: the key determines the account.",
      );
    }
    return caller.apiKey.account;
  }
  checkAccountId(accountId);
  const account = await findReadAccount(pool, accountId);
  if (account === undefined) {
    throw new DomainError(ErrorCode.AccountNotFound, "There is no account with this account_id.");
  }
  return account;
}
