import { readdir, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Log } from "@activity/runtime/log";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { wasAlteredBefore } from "./altered-before.ts";
import {
  isMigrationFile,
  type Migration,
  MigrationError,
  migrationFrom,
} from "./migration-file.ts";
import { NOW_MICROS } from "./now.ts";
import { connectionOptions } from "./pool.ts";
import { checkNoKeyspace, isTableUnknown, isVtgate, UNKNOWN_TABLE } from "./vtgate.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("./migrations", import.meta.url));
const LOOKUP_TABLES_FOLDER = fileURLToPath(new URL("./vitess/lookup", import.meta.url));
/** How long one statement waits for the lock. A vttablet ends a longer wait. */
const LOCK_WAIT_SECONDS = 20;
/**
 * How long and how often a migration waits for a table that a transaction or a dump reads. While it waits, all later
 * statements on the table wait behind it.
 */
const TABLE_WAIT_SECONDS = 3;
const TABLE_WAITS = 20;
const TABLE_PAUSE_MS = 3_000;

/**
 * With these settings, the server ends the session, and so releases its lock, soon after this host has vanished.
 * Statements have no time limit, because a limit would end the wait for the lock, or a long migration.
 */
const SESSION_SETTINGS = `SET SESSION autocommit = 1, wait_timeout = 90, lock_wait_timeout = ${TABLE_WAIT_SECONDS}
  /*M!100303 , max_statement_time = 0 */ /*!80000 , max_execution_time = 0 */`;

type AppliedRow = RowDataPacket & Omit<Migration, "sql">;

/**
 * Applies the migrations that the database at `url` lacks, one instance at a time. Each file is one statement that
 * may run twice, because an instance can be killed between a statement and its mark. Returns the names of applied
 * migrations that this program does not know: a newer program ran them. Throws a MigrationError if this program may not
 * run beside the newer one, or if an applied file was changed. ADR 0044
 */
export async function migrate(url: string, log?: Log): Promise<string[]> {
  const migrations = await readMigrations();
  const connection = await mysql.createConnection(connectionOptions(url));
  try {
    const atVtgate = await isVtgate(connection);
    if (atVtgate) await checkNoKeyspace(connection);
    // At a vtgate this sets nothing: a vttablet decides by itself how long a statement waits for a table.
    else await connection.query(SESSION_SETTINGS);
    await lockMigrations(connection, log);
    if (!atVtgate) await checkOwnTables(connection);
    const applied = await findAppliedMigrations(connection);
    checkApplied(migrations, applied);
    const lacking = migrations.slice(applied.length);
    // The table of a lookup vindex is created before the migration of the same number. ADR 0048
    const lookupTables = atVtgate ? await readMigrations(LOOKUP_TABLES_FOLDER) : [];
    for (const migration of lacking) await apply(connection, migration, lookupTables);
    return applied.slice(migrations.length).map(({ name }) => name);
  } catch (error) {
    throw isTableUnknown(error) ? new MigrationError(UNKNOWN_TABLE) : error;
  } finally {
    // Closing the connection releases the lock.
    await connection.end();
  }
}

async function readMigrations(folder = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter(isMigrationFile).sort();
  const read = (name: string) => readFile(`${folder}/${name}`, "utf8");
  return Promise.all(names.map(async (name) => migrationFrom(name, await read(name))));
}

/** Waits while another instance migrates. If this instance exited instead, the deployment would count as failed. */
async function lockMigrations(connection: Connection, log: Log | undefined): Promise<void> {
  for (;;) {
    const [rows] = await connection.query<(RowDataPacket & (number | null)[])[]>({
      sql: "SELECT GET_LOCK(CONCAT('migrate:', LEFT(DATABASE(), 50)), ?)",
      values: [LOCK_WAIT_SECONDS],
      // Asks for an array, because a vtgate ignores a column's alias.
      rowsAsArray: true,
    });
    const granted = rows[0]?.[0];
    if (granted === 1) return;
    // MariaDB answers NULL at once if the URL names no database.
    if (granted !== 0) throw new MigrationError(UNKNOWN_TABLE);
    log?.warn("another core migrates the database: this one waits");
  }
}

/** Fails if the database has another program's tables: migrations would change tables with equal names. */
async function checkOwnTables(connection: Connection): Promise<void> {
  const [rows] = await connection.query<(RowDataPacket & string[])[]>({
    sql: "SHOW TABLES",
    rowsAsArray: true,
  });
  const names = rows.map(([name]) => name);
  if (names.length === 0 || names.includes("schema_migration")) return;
  throw new MigrationError(
    `DATABASE_URL leads to a database with another program's tables, such as ${names[0]}: name an empty database.`,
  );
}

async function createMigrationTable(connection: Connection): Promise<void> {
  await connection.query(`CREATE TABLE IF NOT EXISTS schema_migration (
    version INT UNSIGNED NOT NULL PRIMARY KEY,
    name VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    checksum CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    needs INT UNSIGNED NOT NULL,
    applied_at BIGINT NOT NULL
  ) ENGINE = InnoDB`);
}

/**
 * Reads the applied migrations. Creates their table only if it does not exist: even with IF NOT EXISTS, a CREATE TABLE
 * waits for a backup's lock and needs the right to create tables.
 */
async function findAppliedMigrations(connection: Connection): Promise<AppliedRow[]> {
  try {
    return await readAppliedMigrations(connection);
  } catch (error) {
    // A vtgate answers ER_UNKNOWN_ERROR if no VSchema knows the table. Then the CREATE TABLE fails too, as
    // UNKNOWN_TABLE.
    if (!["ER_NO_SUCH_TABLE", "ER_UNKNOWN_ERROR"].includes(codeOf(error))) throw error;
  }
  await whenFree("schema_migration", () => createMigrationTable(connection));
  return readAppliedMigrations(connection);
}

async function readAppliedMigrations(connection: Connection): Promise<AppliedRow[]> {
  const [rows] = await connection.query<AppliedRow[]>(
    "SELECT version, name, checksum, needs FROM schema_migration ORDER BY version",
  );
  return rows;
}

function checkApplied(migrations: Migration[], applied: AppliedRow[]): void {
  const known = migrations.at(-1)?.version ?? 0;
  for (const [index, row] of applied.entries()) {
    const migration = migrations[index];
    if (migration === undefined && row.needs <= known) continue;
    if (migration?.version !== row.version) {
      throw new MigrationError(
        migration !== undefined && row.version <= known
          ? `The table schema_migration has the row ${row.name}, but lacks ${migration.name} before it. Delete the row ${row.name} and all later rows: these migrations may run twice.`
          : `The database was migrated by a newer version of this program (${row.name}). This version cannot run beside it. Run that version or a later one.`,
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new MigrationError(
        `${migration.name} was changed after it was applied to this database; restore the file and put the change into a new migration.`,
      );
    }
  }
}

async function apply(
  connection: Connection,
  migration: Migration,
  lookupTables: readonly Migration[],
): Promise<void> {
  for (const { version, sql } of lookupTables) {
    if (version === migration.version) await connection.query(sql);
  }
  await whenFree(migration.name, () => runOnce(connection, migration.sql));
  // Uses IGNORE, because a vttablet releases the lock if a statement takes too long. Another instance may then have set
  // the mark.
  await connection.query(
    `INSERT IGNORE INTO schema_migration (version, name, checksum, needs, applied_at)
     VALUES (?, ?, ?, ?, ${NOW_MICROS})`,
    [migration.version, migration.name, migration.checksum, migration.needs],
  );
}

/** Runs a statement. Repeats it while another transaction has its table, or a backup's lock forbids the change. */
async function whenFree(name: string, run: () => Promise<void>): Promise<void> {
  for (let time = 0; time < TABLE_WAITS; time++) {
    try {
      return await run();
    } catch (error) {
      if (codeOf(error) !== "ER_LOCK_WAIT_TIMEOUT") throw error;
    }
    await wait(TABLE_PAUSE_MS);
  }
  throw new MigrationError(
    `${name} cannot change its table while a transaction, such as a dump, reads it, or a backup holds its lock. End the transaction or the backup, or wait, then start again.`,
  );
}

/**
 * Runs a migration's statement, which may have run before. On a server an ALTER TABLE takes effect completely or not at
 * all, and in MySQL it has no IF NOT EXISTS. A failure because the changes exist is ignored: an instance made them and
 * was killed before it set the mark.
 */
async function runOnce(connection: Connection, sql: string): Promise<void> {
  try {
    await connection.query(sql);
  } catch (error) {
    if (!wasAlteredBefore(error)) throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
