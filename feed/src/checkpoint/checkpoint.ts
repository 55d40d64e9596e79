/** A follower's position in the feed. It is saved as JSON. */
export interface CheckpointState {
  readonly version: 1;
  /** The start of the stream; null: the account's first record. */
  readonly since: string | null;
  readonly type: string | null;
  readonly platform: string | null;
  /**
   * The `since` that was sent for the cursor. It is earlier than `since` if followers share the cursor, and later after
   * the service refused a cursor.
   */
  readonly from: string | null;
  /** The cursor after the last page; null: before the first page. */
  readonly cursor: string | null;
  /**
   * The ids of the last processed records, newest last: at most 500, or all with the newest `recorded_at` if those are
   * more.
   */
  readonly processed: readonly string[];
  /** The `recorded_at` of the newest processed record. */
  readonly recorded_at: string | null;
}

/** Keeps a follower's position. To use a database, implement these two functions. */
export interface Checkpoint {
  /** Returns the last saved state; undefined or null if there is none. */
  load(): Promise<unknown> | unknown;
  /** Saves the state durably, in place of the last one. The follower calls this after each record. */
  save(state: CheckpointState): Promise<void> | void;
}
