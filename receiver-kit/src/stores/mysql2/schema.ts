import type { MysqlQueryable } from "./queryable.ts";

/**
 * Creates the store's table. Put it into a migration, or call `createTable`.
 *
 * The id is binary, so that no collation treats two different ids as equal. Times are UTC.
 */
export const CREATE_TABLE_SQL = `
CREATE TABLE IF NOT EXISTS receiver_kit_event (
  event_id VARBINARY(1020) NOT NULL PRIMARY KEY,
  owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL
    COMMENT 'who holds the claim; null when the event is done; of a record its newest time',
  expires_at DATETIME(6) NOT NULL COMMENT 'end of the lease, or of the time a done id is kept',
  INDEX receiver_kit_event_expires_at (expires_at)
) ENGINE = InnoDB
`;

/** Creates the table if it is missing. */
export async function createTable(db: MysqlQueryable): Promise<void> {
  await db.query(CREATE_TABLE_SQL);
}
