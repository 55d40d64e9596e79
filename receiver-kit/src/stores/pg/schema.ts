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

/** Creates the table where it is missing. */
export async function createTable(db: PgQueryable): Promise<void> {
  await db.query(CREATE_TABLE_SQL);
}
