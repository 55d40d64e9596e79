import type { PgQueryable } from "./queryable.ts";

/** The table of the store; put it into a migration, or let `createTable` run it. */
export const CREATE_TABLE_SQL = `
CREATE TABLE IF NOT EXISTS receiver_kit_event (
  event_id text COLLATE "C" PRIMARY KEY,
  owner text,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS receiver_kit_event_expires_at ON receiver_kit_event (expires_at);
COMMENT ON COLUMN receiver_kit_event.owner IS 'who holds the claim; null when the event is done';
COMMENT ON COLUMN receiver_kit_event.expires_at IS 'end of the lease, or of the time a done id is kept';
`;

/**
 * Creates the table where it is missing.
 *
 * Instances that start at once take turns, because PostgreSQL's IF NOT EXISTS fails when two create
 * the same. Where the table is there nothing is locked: CREATE INDEX would wait for what is in flight.
 */
export async function createTable(db: PgQueryable): Promise<void> {
  const { rows } = await db.query("SELECT to_regclass('receiver_kit_event') AS existing");
  if (rows[0]?.existing) return;
  // Statements sent as one text are one transaction, at whose end the lock is released.
  await db.query(
    `SELECT pg_advisory_xact_lock(hashtext('receiver_kit_event'));${CREATE_TABLE_SQL}`,
  );
}
