import type { SqliteDatabase } from "./database.ts";

/** Creates the store's table. Put it into a migration, or call `createTable`. */
export const CREATE_TABLE_SQL = `
CREATE TABLE IF NOT EXISTS receiver_kit_event (
  event_id TEXT NOT NULL PRIMARY KEY,
  owner TEXT, -- who holds the claim; null when the event is done; of a record its newest time
  expires_at_ms INTEGER NOT NULL -- end of the lease, or of the time a done id is kept
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS receiver_kit_event_expires_at ON receiver_kit_event (expires_at_ms);
`;

/** Creates the table if it is missing. */
export function createTable(db: SqliteDatabase): void {
  waitWhenBusy(db);
  db.exec(CREATE_TABLE_SQL);
}

/**
 * Returns the first value of a row. Depending on the connection's options, a row is an object or a list, and a number
 * may be a BigInt.
 */
export function firstValue(row: unknown): unknown {
  return Object.values(row ?? {})[0];
}

const BUSY_TIMEOUT_MS = 5000;

/** Makes a connection wait for other processes' locks, unless it already has a timeout. */
export function waitWhenBusy(db: SqliteDatabase): void {
  if (Number(firstValue(db.prepare("PRAGMA busy_timeout").get())) === 0)
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
}
