import { DomainError, ErrorCode } from "../common/errors.ts";
import { isId } from "../common/ids.ts";

/**
 * Fails with `invalid_parameter` unless a text has the form of an account id. Calls whose fields are not validated use
 * it, because the database cannot compare a text that is not ASCII with a stored id.
 */
export function checkAccountId(accountId: string): void {
  if (isId(accountId)) return;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    "account_id accepts the id of an account: 15 characters, a-z and 0-9.",
  );
}
