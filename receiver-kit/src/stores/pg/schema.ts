import type { PgQueryable } from "./queryable.ts";

/** Creates the store's table. Put it into a migration, or call `createTable`. */
export const CREATE_TABLE_SQL = `
CREATE TABLE IF NOT EXISTS receiver_kit_event (
  event_id text COLLATE "C" PRIMARY KEY,
  owner text,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS receiver_kit_event_expires_at ON receiver_kit_event (expires_at);
COMMENT ON COLUMN receiver_kit_event.owner IS 'who holds the claim; null when the event is done; of a record its newest time';
COMMENT ON COLUMN receiver_kit_event.expires_at IS 'end of the lease, or of the time a done id is kept';
`;

/**
 * Creates the table if it is missing.
 *
 * Instances that start together take turns, because PostgreSQL's IF NOT EXISTS fails when two of them create the same
 * table. If the table exists, this takes no lock, because CREATE INDEX would wait for running transactions.
 */
export async function createTable(db: PgQueryable): Promise<void> {
  const { rows } = await db.query("SELECT to_regclass('receiver_kit_event') AS existing");
  if (rows[0]?.existing) return;
  // Statements sent as one text are one transaction, and the lock ends with that transaction.
  await db.query(
    `SELECT pg_advisory_xact_lock(hashtext('receiver_kit_event'));${CREATE_TABLE_SQL}`,
  );
}
