import type { LoadedAttempt } from "./attempt-store.ts";
import type { AttemptContent, LeasedEntry, PastAttempt, QueuePosition } from "./claim-store.ts";
import type { Task } from "./outbox-store.ts";
import type { AfterAttempt, LockedDelivery, NewAttempt } from "./record-store.ts";
import type { DeliveryKey, RunKey } from "./run-key.ts";

/** What one transaction changes; all of it commits together. */
export type DispatchChanges = {
  /** To store; one that is stored already stays as it is. */
  readonly attempts?: readonly NewAttempt[];
  /** What attempts made of deliveries, those of which the same became together. */
  readonly outcomes?: readonly {
    readonly keys: readonly DeliveryKey[];
    readonly after: AfterAttempt;
  }[];
  /** Runs to cancel that have not ended. */
  readonly canceled?: readonly RunKey[];
  /** Runs whose entry for the first attempt becomes one for their workflow, claimable at once. */
  readonly retried?: readonly RunKey[];
  /** Runs to take out of the outbox; what was put there since for a later run stays. */
  readonly deleted?: readonly RunKey[];
};

/** What a decision changes, and what its caller is told once that is committed. */
export type Decided<Result> = { readonly changes: DispatchChanges; readonly result: Result };

/** What dispatch asks of the database; lists that are given hold at least one. Each call is one transaction. */
export type DispatchStore = {
  readInstallationId(): Promise<string>;
  /** Lists claimable entries behind a queue, queue by queue: first what lost leases gave back, then the oldest. */
  listClaimable(
    task: Task,
    position: QueuePosition,
    limit: number,
  ): Promise<readonly (QueuePosition & DeliveryKey)[]>;
  /** Counts what is leased of some queues, by endpoint. */
  countLeased(task: Task, queues: readonly QueuePosition[]): Promise<ReadonlyMap<string, number>>;
  /** Leases those of the entries that can still be claimed. */
  leaseEntries(task: Task, keys: readonly DeliveryKey[], leaseId: string): Promise<void>;
  /** Ends the leases that a claim got of entries. */
  releaseEntries(keys: readonly DeliveryKey[], leaseId: string): Promise<void>;
  /** Loads the first attempts that a claim leased; one without content cannot be made. */
  loadLeasedAttempts(
    keys: readonly DeliveryKey[],
    leaseId: string,
  ): Promise<readonly (LeasedEntry & { readonly content: AttemptContent | undefined })[]>;
  /** Loads the retries that a claim leased. */
  loadLeasedRetries(
    keys: readonly DeliveryKey[],
    leaseId: string,
  ): Promise<readonly (LeasedEntry & { readonly dueInMicros: number })[]>;
  /** Lists the attempts that runs have made, in order. */
  listAttemptsOfRuns(runs: readonly RunKey[]): Promise<readonly (DeliveryKey & PastAttempt)[]>;
  /** Finds what an attempt needs; `undefined` when its delivery is gone. */
  findAttempt(run: RunKey, attempt: number): Promise<LoadedAttempt | undefined>;
  isAccountDeleted(accountNo: number): Promise<boolean>;
  /** Notes that an attempt which is not recorded will be asked for again in `waitMicros`. */
  rescheduleAttempt(run: RunKey, attempt: number, waitMicros: number): Promise<void>;
  /** Lists those of the deliveries that are there, locked by others or not. */
  listPresent(keys: readonly DeliveryKey[]): Promise<readonly DeliveryKey[]>;
  change(changes: DispatchChanges): Promise<void>;
  /** Locks those of the deliveries that nobody else has locked, and makes the changes decided from them. */
  changeFree<Result>(
    keys: readonly DeliveryKey[],
    decide: (free: readonly LockedDelivery[]) => Decided<Result>,
  ): Promise<Result>;
  /**
   * Puts runs into the outbox whose next attempt is overdue by `overdueMicros`, at most `limit`, those longest overdue
   * first, and makes them due now; returns how many. Those that somebody else is writing are left out.
   */
  resumeOverdue(overdueMicros: number, limit: number): Promise<number>;
};
