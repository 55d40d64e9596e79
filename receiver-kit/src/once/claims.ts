/** The result of a claim: the caller holds it now, the event is done, or another owner holds it. */
export type ClaimResult = "claimed" | "done" | "held";

/**
 * Keeps claims on event ids, and the newest time of each record, in some storage. Each method must be atomic there.
 *
 * Leases run by the storage's clock, never by the clocks of the processes that share it.
 */
export interface Claims {
  /** Takes the claim on `eventId` for `leaseMs`, unless the event is done or another lease still runs. */
  claim(eventId: string, owner: string, leaseMs: number): Promise<ClaimResult>;
  /** Renews `owner`'s lease to `leaseMs` from now. Returns false if `owner` no longer holds the claim. */
  renew(eventId: string, owner: string, leaseMs: number): Promise<boolean>;
  /**
   * Marks `eventId` done and keeps it for `keepMs`. Returns false if `owner` no longer holds the claim. After its lease
   * ends, `owner` still holds the claim until another owner takes the claim or it is deleted.
   */
  complete(eventId: string, owner: string, keepMs: number): Promise<boolean>;
  /** Releases `owner`'s claim, so that the next delivery can take it at once. */
  release(eventId: string, owner: string): Promise<void>;
  /**
   * Keeps the later of `time` (ISO 8601) and the record's newest time for `keepMs`, and returns that time. An empty
   * `time` is earlier than any other. `record` differs from every event's id.
   */
  keepNewest(record: string, time: string, keepMs: number): Promise<string>;
  /** Deletes at most `limit` expired ids and records. Returns their number. */
  deleteExpired(limit: number): Promise<number>;
}
