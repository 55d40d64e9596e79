import type { ClaimResult, Claims } from "../../once/claims.ts";
import { affectedRows, type MysqlQueryable, readColumn } from "./queryable.ts";

const IN_MS = "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND";

/** Creates claims in the table of `CREATE_TABLE_SQL`, by the database's clock. */
export function createMysqlClaims(db: MysqlQueryable): Claims {
  return {
    claim: (eventId, owner, leaseMs) => takeClaim(db, eventId, owner, leaseMs),
    renew: (eventId, owner, leaseMs) => updateHeld(db, eventId, owner, owner, leaseMs),
    complete: (eventId, owner, keepMs) => updateHeld(db, eventId, owner, null, keepMs),
    release: async (eventId, owner) => {
      await db.query("DELETE FROM receiver_kit_event WHERE event_id = ? AND owner = ?", [
        eventId,
        owner,
      ]);
    },
    keepNewest: (record, time, keepMs) => keepNewest(db, record, time, keepMs),
    deleteExpired: (limit) => deleteExpired(db, limit),
  };
}

/**
 * Takes the claim, unless the event is done or another lease still runs.
 *
 * One statement takes the row's write lock at once. A separate insert that fails would leave a shared lock with each
 * competing transaction, and they would deadlock. Inside a transaction, this waits for other transactions with the same
 * id.
 */
export async function takeClaim(
  db: MysqlQueryable,
  eventId: string,
  owner: string,
  leaseMs: number,
): Promise<ClaimResult> {
  // MySQL assigns from left to right: the second assignment sees the new owner.
  await db.query(
    `INSERT INTO receiver_kit_event (event_id, owner, expires_at) VALUES (?, ?, ${IN_MS})
     ON DUPLICATE KEY UPDATE
     owner = IF(expires_at <= UTC_TIMESTAMP(6), VALUES(owner), owner),
     expires_at = IF(owner = VALUES(owner), VALUES(expires_at), expires_at)`,
    [eventId, owner, leaseMs * 1000],
  );
  // This read takes a lock, because a transaction's snapshot may be older than the existing row.
  const [holder] = await readColumn(
    db,
    "SELECT owner FROM receiver_kit_event WHERE event_id = ? LOCK IN SHARE MODE",
    [eventId],
  );
  if (String(holder) === owner) return "claimed";
  // If there is no row, its claim was released meanwhile. Then this returns `held`, and the next delivery can claim the
  // event.
  return holder === null ? "done" : "held";
}

/** Keeps the newest time of a record in the column `owner`, and returns it. */
export async function keepNewest(
  db: MysqlQueryable,
  record: string,
  time: string,
  keepMs: number,
): Promise<string> {
  await db.query(
    `INSERT INTO receiver_kit_event (event_id, owner, expires_at) VALUES (?, ?, ${IN_MS})
     ON DUPLICATE KEY UPDATE owner = GREATEST(owner, VALUES(owner)), expires_at = VALUES(expires_at)`,
    [record, time, keepMs * 1000],
  );
  const [newest] = await readColumn(
    db,
    "SELECT owner FROM receiver_kit_event WHERE event_id = ? LOCK IN SHARE MODE",
    [record],
  );
  return String(newest ?? time);
}

/** Changes a claim that `owner` still holds. A null `nextOwner` marks it done. */
export async function updateHeld(
  db: MysqlQueryable,
  eventId: string,
  owner: string,
  nextOwner: string | null,
  forMs: number,
): Promise<boolean> {
  const updated = await affectedRows(
    db,
    `UPDATE receiver_kit_event SET owner = ?, expires_at = ${IN_MS}
     WHERE event_id = ? AND owner = ?`,
    [nextOwner, forMs * 1000, eventId, owner],
  );
  return updated === 1;
}

async function deleteExpired(db: MysqlQueryable, limit: number): Promise<number> {
  // Reads the ids without locks, and deletes by primary key. Claims lock in the same order, so the two do not deadlock.
  const eventIds = await readColumn(
    db,
    `SELECT event_id FROM receiver_kit_event WHERE expires_at <= UTC_TIMESTAMP(6)
     ORDER BY expires_at LIMIT ?`,
    [limit],
  );
  if (eventIds.length === 0) return 0;
  return affectedRows(
    db,
    "DELETE FROM receiver_kit_event WHERE event_id IN (?) AND expires_at <= UTC_TIMESTAMP(6)",
    [eventIds],
  );
}
