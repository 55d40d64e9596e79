import type { ClaimResult, Claims } from "../../once/claims.ts";
import type { PgQueryable } from "./queryable.ts";

/** Creates claims in the table of `CREATE_TABLE_SQL`, by the database's clock. */
export function createPgClaims(db: PgQueryable): Claims {
  return {
    claim: (eventId, owner, leaseMs) => takeClaim(db, eventId, owner, leaseMs),
    renew: (eventId, owner, leaseMs) => updateHeld(db, eventId, owner, owner, leaseMs),
    complete: (eventId, owner, keepMs) => updateHeld(db, eventId, owner, null, keepMs),
    release: async (eventId, owner) => {
      await db.query("DELETE FROM receiver_kit_event WHERE event_id = $1 AND owner = $2", [
        eventId,
        owner,
      ]);
    },
    keepNewest: (record, time, keepMs) => keepNewest(db, record, time, keepMs),
    deleteExpired: (limit) => deleteExpired(db, limit),
  };
}

/**
 * Takes the claim, unless the event is done or a lease still runs. A null `owner` marks the event done at once.
 *
 * Inside a transaction, this waits for other transactions with the same id.
 */
export async function takeClaim(
  db: PgQueryable,
  eventId: string,
  owner: string | null,
  forMs: number,
): Promise<ClaimResult> {
  const taken = await db.query(
    `INSERT INTO receiver_kit_event AS known (event_id, owner, expires_at)
     VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     ON CONFLICT (event_id) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
     WHERE known.expires_at <= clock_timestamp()`,
    [eventId, owner, forMs],
  );
  if (taken.rowCount === 1) return "claimed";
  const { rows } = await db.query("SELECT owner FROM receiver_kit_event WHERE event_id = $1", [
    eventId,
  ]);
  // If there is no row, its claim was released meanwhile. Then this returns `held`, and the next delivery can claim the
  // event.
  return rows[0] && rows[0].owner === null ? "done" : "held";
}

/** Keeps the newest time of a record in the column `owner`, and returns it. */
export async function keepNewest(
  db: PgQueryable,
  record: string,
  time: string,
  keepMs: number,
): Promise<string> {
  const { rows } = await db.query(
    `INSERT INTO receiver_kit_event AS known (event_id, owner, expires_at)
     VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     ON CONFLICT (event_id) DO UPDATE
     SET owner = GREATEST(known.owner COLLATE "C", excluded.owner), expires_at = excluded.expires_at
     RETURNING owner`,
    [record, time, keepMs],
  );
  return String(rows[0]?.owner);
}

async function updateHeld(
  db: PgQueryable,
  eventId: string,
  owner: string,
  nextOwner: string | null,
  forMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE receiver_kit_event
     SET owner = $3, expires_at = clock_timestamp() + $4 * interval '1 millisecond'
     WHERE event_id = $1 AND owner = $2`,
    [eventId, owner, nextOwner, forMs],
  );
  return rowCount === 1;
}

async function deleteExpired(db: PgQueryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM receiver_kit_event WHERE event_id = ANY (ARRAY(
       SELECT event_id FROM receiver_kit_event WHERE expires_at <= clock_timestamp()
       ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))`,
    [limit],
  );
  return rowCount ?? 0;
}
