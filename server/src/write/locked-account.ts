import { DomainError, ErrorCode } from "../common/errors.ts";

/** An account that a write has locked, with the times and ids for the write. */
export type LockedAccount = {
  readonly accountNo: number;
  readonly id: string;
  readonly blocked: boolean;
  /** The database's clock after the lock, in microseconds. */
  readonly nowMicros: number;
  /**
   * The time that this write records. It is later than every earlier change of the feed and every earlier event that
   * is no test, even if the clock stepped back.
   */
  readonly recordedAt: number;
  /** Creates an id for a new object of this write. Ids are ordered by `recordedAt`. */
  readonly newId: () => string;
};

export function accountNotFound(field = "account_id"): DomainError {
  return new DomainError(ErrorCode.AccountNotFound, `There is no account with this ${field}.`);
}
