import type { Change } from "../database/change.ts";
import type { Asks, Found } from "../database/lookup.ts";
import type { NewWebhookEvent } from "../webhook-event/new-webhook-event.ts";
import type { LockedAccount } from "./locked-account.ts";

/**
 * A call that writes an account's data: its lookups, and a pure function that decides from them. The account is locked
 * from before the first lookup until the commit.
 */
export type Write<Asked extends Asks, Answer> = {
  readonly accountId: string;
  /**
   * Names of the data that the write reads and may change. Writes without a common name may share a commit. A write
   * without `touches` is committed alone.
   */
  readonly touches?: readonly string[];
  load(accountNo: number): Asked;
  /** Decides what to write. If it throws a DomainError, the write is refused and nothing of it is written. */
  decide(found: Found<Asked>, account: LockedAccount): Decision<Answer>;
};

/** A change that pages of the feed show. It is a type of its own because it moves the feed's clock. */
export type FeedChange = { readonly feedChange: Change };

export type Decision<Answer> = {
  readonly answer: Answer;
  readonly changes?: readonly Change[];
  /**
   * Changes that pages of the feed show. They move the feed's clock to the account's `recordedAt`. A write that stores
   * its `recordedAt` must move the clock too, with an empty list if pages show nothing.
   */
  readonly feed?: readonly FeedChange[];
  /** The webhook events for the account's endpoints. */
  readonly events?: readonly NewWebhookEvent[];
};
