import type { Connection, RowDataPacket } from "mysql2/promise";
import { MigrationError } from "./migration-file.ts";

/**
 * Tells whether a server is a vtgate, by a statement that no other server takes. The server's version does not tell,
 * because it can be any text. ADR 0048
 */
export async function isVtgate(connection: Connection): Promise<boolean> {
  try {
    await connection.query("SHOW VITESS_SHARDS");
    return true;
  } catch (error) {
    if (codeOf(error) === "ER_PARSE_ERROR") return false;
    throw error;
  }
}

/**
 * Throws a MigrationError if the connection has chosen a keyspace. Without one, a vtgate finds each table's
 * keyspace by the VSchemas.
 */
export async function checkNoKeyspace(connection: Connection): Promise<void> {
  const [rows] = await connection.query<RowDataPacket[]>("SELECT DATABASE() AS keyspace");
  if (!rows[0]?.keyspace) return;
  throw new MigrationError(
    "DATABASE_URL leads to a vtgate, so it must not name a keyspace: the tables are in two. End it after the port.",
  );
}

/**
 * Tells whether a statement failed because its table has no database. At a vtgate the cause is that no VSchema knows
 * the table. On any other server the cause is that DATABASE_URL names no database.
 */
export function isTableUnknown(error: unknown): boolean {
  // MySQL refuses the lock's name, which is NULL without a database.
  return ["ER_NO_DB_ERROR", "ER_USER_LOCK_WRONG_NAME"].includes(codeOf(error));
}

/** The advice after a failure that `isTableUnknown` recognizes. */
export const UNKNOWN_TABLE =
  "DATABASE_URL must name a database. At a vtgate it names none, and the VSchemas of server/src/database/vitess must be applied before this version starts.";

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
