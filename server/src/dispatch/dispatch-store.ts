import type { LoadedAttempt } from "./attempt-store.ts";
import type { AttemptContent, LeasedEntry, PastAttempt, QueuePosition } from "./claim-store.ts";
import type { Task } from "./outbox-store.ts";
import type { AfterAttempt, LockedDelivery, NewAttempt } from "./record-store.ts";
import type { DeliveryKey, RunKey } from "./run-key.ts";

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
  /** Runs that continue with retries. Their outbox entry becomes a task to begin their workflow, claimable at once. */
  readonly retried?: readonly RunKey[];
  /** Runs to remove from the outbox. An entry of a later run stays. */
  readonly deleted?: readonly RunKey[];
};

/** The changes to store, and the result to return after the commit. */
export type Decided<Result> = { readonly changes: DispatchChanges; readonly result: Result };

/**
 * The database operations of dispatch. Each is one transaction. Callers give no empty lists of keys, queues or runs.
 * The functions of the same names in the `*-store.ts` files say what they do.
 */
export type DispatchStore = {
  readInstallationId(): Promise<string>;
  listClaimable(
    task: Task,
    position: QueuePosition,
    limit: number,
    includeEnded: boolean,
  ): Promise<readonly (QueuePosition & DeliveryKey)[]>;
  countLeased(task: Task, queues: readonly QueuePosition[]): Promise<ReadonlyMap<string, number>>;
  leaseEntries(task: Task, keys: readonly DeliveryKey[], leaseId: string): Promise<void>;
  releaseEntries(keys: readonly DeliveryKey[], leaseId: string): Promise<void>;
  renewLeases(runs: readonly RunKey[]): Promise<void>;
  loadLeasedAttempts(
    keys: readonly DeliveryKey[],
    leaseId: string,
  ): Promise<readonly (LeasedEntry & { readonly content: AttemptContent | undefined })[]>;
  loadLeasedRetries(
    keys: readonly DeliveryKey[],
    leaseId: string,
  ): Promise<readonly (LeasedEntry & { readonly dueInMicros: number })[]>;
  listAttemptsOfRuns(runs: readonly RunKey[]): Promise<readonly (DeliveryKey & PastAttempt)[]>;
  findAttempt(run: RunKey, attempt: number): Promise<LoadedAttempt | undefined>;
  isAccountDeleted(accountNo: number): Promise<boolean>;
  rescheduleAttempt(run: RunKey, attempt: number, waitMicros: number): Promise<void>;
  listPresent(keys: readonly DeliveryKey[]): Promise<readonly DeliveryKey[]>;
  change(changes: DispatchChanges): Promise<void>;
  /** Locks the deliveries that no other transaction has locked, and stores what `decide` returns. */
  changeFree<Result>(
    keys: readonly DeliveryKey[],
    decide: (free: readonly LockedDelivery[]) => Decided<Result>,
  ): Promise<Result>;
  /**
   * Puts at most `limit` runs whose next attempt is overdue by `overdueMicros` into the outbox, due now, the longest
   * overdue first. Skips deliveries that another transaction has locked. Returns the number of runs.
   */
  resumeOverdue(overdueMicros: number, limit: number): Promise<number>;
};
