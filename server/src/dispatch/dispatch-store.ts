import type { LoadedAttempt } from "./attempt-store.ts";
import type { AttemptContent, LeasedEntry, PastAttempt, QueuePosition } from "./claim-store.ts";
import type { Task } from "./outbox-store.ts";
import type { AfterAttempt, LockedDelivery, NewAttempt } from "./record-store.ts";
import type { DeliveryKey, RunKey } from "./run-key.ts";

/** The changes of one transaction. */
export type DispatchChanges = {
  /** Attempts to store. A stored one stays, unless it failed and the new one was delivered. */
  readonly attempts?: readonly NewAttempt[];
  /** New values of deliveries. Deliveries with the same values are grouped. */
  readonly outcomes?: readonly {
    readonly keys: readonly DeliveryKey[];
    readonly after: AfterAttempt;
  }[];
  /** Runs to cancel unless they have ended. */
  readonly canceled?: readonly RunKey[];
  /** Runs whose entry for the first attempt becomes one to begin their workflow, claimable at once. */
  readonly retried?: readonly RunKey[];
  /** Runs to remove from the outbox. An entry of a later run stays. */
  readonly deleted?: readonly RunKey[];
};

/** The changes to store, and the result to return after the commit. */
export type Decided<Result> = { readonly changes: DispatchChanges; readonly result: Result };

/** The database operations of dispatch. Each call is one transaction. Lists in arguments are not empty. */
export type DispatchStore = {
  readInstallationId(): Promise<string>;
  /**
   * Lists the claimable entries after a queue, grouped by queue: first those with an expired lease, then the oldest.
   */
  listClaimable(
    task: Task,
    position: QueuePosition,
    limit: number,
  ): Promise<readonly (QueuePosition & DeliveryKey)[]>;
  /** Counts the leased entries of queues by endpoint. */
  countLeased(task: Task, queues: readonly QueuePosition[]): Promise<ReadonlyMap<string, number>>;
  /** Leases the given entries that can still be claimed. */
  leaseEntries(task: Task, keys: readonly DeliveryKey[], leaseId: string): Promise<void>;
  /** Ends a claim's leases of entries. */
  releaseEntries(keys: readonly DeliveryKey[], leaseId: string): Promise<void>;
  /** Loads the first attempts that a claim leased. One without content cannot be sent. */
  loadLeasedAttempts(
    keys: readonly DeliveryKey[],
    leaseId: string,
  ): Promise<readonly (LeasedEntry & { readonly content: AttemptContent | undefined })[]>;
  /** Loads the retries that a claim leased. */
  loadLeasedRetries(
    keys: readonly DeliveryKey[],
    leaseId: string,
  ): Promise<readonly (LeasedEntry & { readonly dueInMicros: number })[]>;
  /** Lists the recorded attempts of runs, in order. */
  listAttemptsOfRuns(runs: readonly RunKey[]): Promise<readonly (DeliveryKey & PastAttempt)[]>;
  /** Finds the data of an attempt. Returns `undefined` if its delivery does not exist. */
  findAttempt(run: RunKey, attempt: number): Promise<LoadedAttempt | undefined>;
  isAccountDeleted(accountNo: number): Promise<boolean>;
  /** Sets an attempt that is not recorded to be due in `waitMicros`. */
  rescheduleAttempt(run: RunKey, attempt: number, waitMicros: number): Promise<void>;
  /** Lists the given deliveries that exist, also those that another transaction has locked. */
  listPresent(keys: readonly DeliveryKey[]): Promise<readonly DeliveryKey[]>;
  change(changes: DispatchChanges): Promise<void>;
  /** Locks the deliveries that no other transaction has locked, and stores the changes that `decide` returns. */
  changeFree<Result>(
    keys: readonly DeliveryKey[],
    decide: (free: readonly LockedDelivery[]) => Decided<Result>,
  ): Promise<Result>;
  /**
   * Puts at most `limit` runs into the outbox whose next attempt is overdue by `overdueMicros`, the longest overdue
   * first. Makes them due now, skips deliveries that another transaction has locked, and returns the number of runs.
   */
  resumeOverdue(overdueMicros: number, limit: number): Promise<number>;
};
