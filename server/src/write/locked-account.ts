import { DomainError, ErrorCode } from "../common/errors.ts";

/** An account that a write has locked, and what the write is given beside what is stored. */
export type LockedAccount = {
  readonly accountNo: number;
  readonly id: string;
  readonly blocked: boolean;
  /** The database's clock behind the lock, in microseconds. */
  readonly nowMicros: number;
  /** When what this write records is recorded: later than every change of its feed and every event before, even when the clock stepped back. */
  readonly recordedAt: number;
  /** Makes ids of what it creates, ordered by `nowMicros`. */
  readonly newId: () => string;
};

/** Returns the failure of a call that names no account. */
export function accountNotFound(): DomainError {
  return new DomainError(ErrorCode.AccountNotFound, "There is no such account.");
}
