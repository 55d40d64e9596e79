/** The answer to a claim: it is the caller's now, it was finished before, or somebody else holds it. */
export type ClaimResult = "claimed" | "done" | "held";

/**
 * Claims on event ids in some storage, and the newest time of each record: each method is atomic there.
 *
 * Leases run by the storage's own clock, never by the clocks of the processes that share it.
 */
export interface Claims {
  /** Takes the claim on `eventId` for `leaseMs` unless it is done or another's lease still runs. */
  claim(eventId: string, owner: string, leaseMs: number): Promise<ClaimResult>;
  /** Makes `owner`'s lease run `leaseMs` from now. False when the claim is no longer `owner`'s. */
  renew(eventId: string, owner: string, leaseMs: number): Promise<boolean>;
  /** Marks `eventId` done and keeps it for `keepMs`. False when the claim is no longer `owner`'s. */
  complete(eventId: string, owner: string, keepMs: number): Promise<boolean>;
  /** Gives `owner`'s claim back, so that the next delivery can take it at once. */
  release(eventId: string, owner: string): Promise<void>;
  /**
   * Keeps `time`, ISO 8601, as the newest of a record for `keepMs`, unless a later one is kept. Returns the one that is
   * kept then. `record` is no event's id.
   */
  keepNewest(record: string, time: string, keepMs: number): Promise<string>;
  /** Deletes at most `limit` ids and records whose time is over. Returns how many. */
  deleteExpired(limit: number): Promise<number>;
}
