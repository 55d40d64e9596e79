import type { Connection, RowDataPacket } from "mysql2/promise";
import { MigrationError } from "./migration-file.ts";

/** Tells whether a server is a vtgate: no other takes this statement, and its version can be set to any text. ADR 0048 */
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
 * Throws a MigrationError when the connection has chosen a keyspace: a vtgate finds each table in its keyspace, by the
 * VSchemas, but only for those who have chosen none.
 */
export async function checkNoKeyspace(connection: Connection): Promise<void> {
  const [rows] = await connection.query<RowDataPacket[]>("SELECT DATABASE() AS keyspace");
  if (!rows[0]?.keyspace) return;
  throw new MigrationError(
    "DATABASE_URL leads to a vtgate and names a keyspace there: it must end behind the port, for the tables lie in two keyspaces.",
  );
}

/**
 * Tells whether a statement failed because it names a table without a place: at a vtgate one that no VSchema knows,
 * elsewhere any, when no database is named.
 */
export function isTableUnknown(error: unknown): boolean {
  return codeOf(error) === "ER_NO_DB_ERROR";
}

/** What to do about it. */
export const UNKNOWN_TABLE =
  "DATABASE_URL must name a database. At a vtgate it names none, and the VSchemas of server/src/database/vitess must be applied before this version starts.";

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
