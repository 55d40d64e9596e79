import type { ClaimResult, Claims } from "../../once/claims.ts";
import type { SqliteDatabase } from "./database.ts";
import { firstValue } from "./schema.ts";

// This clock is common: all processes that share the file run on one machine.
const now = Date.now;

/** Creates claims in the table of `CREATE_TABLE_SQL`. */
export function createSqliteClaims(db: SqliteDatabase): Claims {
  return {
    claim: async (eventId, owner, leaseMs) => takeClaim(db, eventId, owner, leaseMs),
    renew: async (eventId, owner, leaseMs) => updateHeld(db, eventId, owner, owner, leaseMs),
    complete: async (eventId, owner, keepMs) => updateHeld(db, eventId, owner, null, keepMs),
    release: async (eventId, owner) => {
      db.prepare("DELETE FROM receiver_kit_event WHERE event_id = ? AND owner = ?").run(
        eventId,
        owner,
      );
    },
    keepNewest: async (record, time, keepMs) => keepNewest(db, record, time, keepMs),
    deleteExpired: async (limit) => deleteExpired(db, limit),
  };
}

/** Takes the claim, unless the event is done or a lease runs. A null `owner` marks the event done at once. */
export function takeClaim(
  db: SqliteDatabase,
  eventId: string,
  owner: string | null,
  forMs: number,
): ClaimResult {
  const nowMs = now();
  const { changes } = db
    .prepare(
      `INSERT INTO receiver_kit_event (event_id, owner, expires_at_ms) VALUES (?, ?, ?)
       ON CONFLICT (event_id) DO UPDATE
       SET owner = excluded.owner, expires_at_ms = excluded.expires_at_ms
       WHERE receiver_kit_event.expires_at_ms <= ?`,
    )
    .run(eventId, owner, nowMs + forMs, nowMs);
  if (Number(changes) === 1) return "claimed";
  const row = db.prepare("SELECT owner FROM receiver_kit_event WHERE event_id = ?").get(eventId);
  // If there is no row, its claim was released meanwhile. Then this returns `held`, and the next delivery can claim the
  // event.
  return row && firstValue(row) === null ? "done" : "held";
}

/** Keeps the newest time of a record in the column `owner`, and returns it. */
export function keepNewest(
  db: SqliteDatabase,
  record: string,
  time: string,
  keepMs: number,
): string {
  // The statement has no RETURNING, because the drivers read its row before the commit and then ignore a failure of the
  // commit.
  db.prepare(
    `INSERT INTO receiver_kit_event (event_id, owner, expires_at_ms) VALUES (?, ?, ?)
     ON CONFLICT (event_id) DO UPDATE
     SET owner = max(owner, excluded.owner), expires_at_ms = excluded.expires_at_ms`,
  ).run(record, time, now() + keepMs);
  const row = db.prepare("SELECT owner FROM receiver_kit_event WHERE event_id = ?").get(record);
  // The row is missing only if another process deleted it after `keepMs`.
  return String(firstValue(row) ?? time);
}

function updateHeld(
  db: SqliteDatabase,
  eventId: string,
  owner: string,
  nextOwner: string | null,
  forMs: number,
): boolean {
  const { changes } = db
    .prepare(
      "UPDATE receiver_kit_event SET owner = ?, expires_at_ms = ? WHERE event_id = ? AND owner = ?",
    )
    .run(nextOwner, now() + forMs, eventId, owner);
  return Number(changes) === 1;
}

function deleteExpired(db: SqliteDatabase, limit: number): number {
  const { changes } = db
    .prepare(
      `DELETE FROM receiver_kit_event WHERE event_id IN (
         SELECT event_id FROM receiver_kit_event WHERE expires_at_ms <= ?
         ORDER BY expires_at_ms LIMIT ?)`,
    )
    .run(now(), limit);
  return Number(changes);
}
