import type { Change } from "../database/change.ts";
import type { Asks, Found } from "../database/lookup.ts";
import type { NewWebhookEvent } from "../webhook-event/new-webhook-event.ts";
import type { LockedAccount } from "./locked-account.ts";

/**
 * A call that writes an account's data: what it reads, and a pure function that decides from it. The account
 * is locked from before the first until all is committed.
 */
export type Write<Asked extends Asks, Answer> = {
  readonly accountId: string;
  /**
   * Names of what it reads and may change. Writes that have no name in common are decided and committed
   * together; one without names is on its own.
   */
  readonly touches?: readonly string[];
  load(accountNo: number): Asked;
  /** Fails with a DomainError, and then nothing of it is written. */
  decide(found: Found<Asked>, account: LockedAccount): Decision<Answer>;
};

/** A change of what pages show, apart from all others: it moves the feed's clock. */
export type FeedChange = { readonly feedChange: Change };

/** What becomes of a write. */
export type Decision<Answer> = {
  readonly answer: Answer;
  readonly changes?: readonly Change[];
  /**
   * Changes of what pages show. The feed's clock moves on to the account's `recordedAt`, as it must whenever
   * something is recorded: with an empty list when pages do not show it.
   */
  readonly feed?: readonly FeedChange[];
  /** What the account's endpoints are told. */
  readonly events?: readonly NewWebhookEvent[];
};
