import { DomainError, ErrorCode } from "../common/errors.ts";
import { isId } from "../common/ids.ts";

/**
 * Fails with `invalid_parameter` unless `accountId` has the form of an account id. Without this check, the answer to a
 * malformed id would be `account_not_found`.
 */
export function checkAccountId(accountId: string): void {
  if (isId(accountId)) return;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    "account_id accepts the id of an account: 15 characters, a-z and 0-9.",
  );
}
