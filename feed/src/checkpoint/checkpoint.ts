/** Where a follower is, to be saved as JSON. */
export interface CheckpointState {
  readonly version: 1;
  /** Where the stream began; null: at the account's first record. */
  readonly since: string | null;
  readonly type: string | null;
  readonly platform: string | null;
  /** After which page; null: before the first. */
  readonly cursor: string | null;
  /** Ids of the last records that were processed, newest last; at most 500. */
  readonly processed: readonly string[];
  /** The `recorded_at` of the newest of them. */
  readonly recorded_at: string | null;
}

/** Keeps a follower's place. Write your own for a database: two functions. */
export interface Checkpoint {
  /** Returns what was saved last; undefined or null when nothing was. */
  load(): Promise<unknown> | unknown;
  /** Saves durably, in place of what was there. It is called after each record. */
  save(state: CheckpointState): Promise<void> | void;
}
