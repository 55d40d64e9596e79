import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { NOW_MICROS } from "./now.ts";
import { connectionOptions } from "./pool.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("./migrations", import.meta.url));
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** What an ALTER TABLE fails with whose columns and keys were added, or dropped, before. */
const ALTERED_BEFORE = new Set(["ER_DUP_FIELDNAME", "ER_DUP_KEYNAME", "ER_CANT_DROP_FIELD_OR_KEY"]);
/** How long to wait for another instance that migrates the same database. */
const LOCK_WAIT_SECONDS = 60;

/** The database cannot be brought to this program's schema; the message says what to do. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

type Migration = { version: number; name: string; sql: string; checksum: string };
type AppliedRow = RowDataPacket & { version: number; name: string; checksum: string };

/**
 * Applies the migrations that the database at `url` lacks, one instance at a time. Each file is one
 * statement that may run twice, so that an instance killed between a statement and its mark is no harm.
 * Throws a MigrationError when the database is newer than this program or an applied file was changed.
 */
export async function migrate(url: string): Promise<void> {
  const migrations = await readMigrations();
  const connection = await mysql.createConnection(connectionOptions(url));
  try {
    await lockMigrations(connection);
    await createMigrationTable(connection);
    const applied = await findAppliedMigrations(connection);
    checkApplied(migrations, applied);
    for (const migration of migrations.slice(applied.length)) await apply(connection, migration);
  } finally {
    // Closing the connection gives the lock back.
    await connection.end();
  }
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS_FOLDER)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(`${MIGRATIONS_FOLDER}/${name}`, "utf8");
      const checksum = createHash("sha256").update(sql).digest("hex");
      return { version: Number(name.slice(0, 4)), name, sql, checksum };
    }),
  );
}

async function lockMigrations(connection: Connection): Promise<void> {
  const [rows] = await connection.query<(RowDataPacket & { locked: number | null })[]>(
    "SELECT GET_LOCK(CONCAT('migrate:', LEFT(DATABASE(), 50)), ?) AS locked",
    [LOCK_WAIT_SECONDS],
  );
  if (rows[0]?.locked !== 1) {
    throw new MigrationError(
      `Another instance has been migrating this database for ${LOCK_WAIT_SECONDS} seconds; start again when it is done.`,
    );
  }
}

async function createMigrationTable(connection: Connection): Promise<void> {
  await connection.query(`CREATE TABLE IF NOT EXISTS schema_migration (
    version INT UNSIGNED NOT NULL PRIMARY KEY,
    name VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    checksum CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    applied_at BIGINT NOT NULL
  ) ENGINE = InnoDB`);
}

async function findAppliedMigrations(connection: Connection): Promise<AppliedRow[]> {
  const [rows] = await connection.query<AppliedRow[]>(
    "SELECT version, name, checksum FROM schema_migration ORDER BY version",
  );
  return rows;
}

function checkApplied(migrations: Migration[], applied: AppliedRow[]): void {
  for (const [index, row] of applied.entries()) {
    const migration = migrations[index];
    if (migration === undefined || migration.version !== row.version) {
      throw new MigrationError(
        `The database was migrated by a newer version of this program (${row.name}); run that version or a later one.`,
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new MigrationError(
        `${migration.name} was changed after it was applied to this database; restore the file and put the change into a new migration.`,
      );
    }
  }
}

async function apply(connection: Connection, migration: Migration): Promise<void> {
  await runOnce(connection, migration.sql);
  await connection.query(
    `INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (?, ?, ?, ${NOW_MICROS})`,
    [migration.version, migration.name, migration.checksum],
  );
}

/**
 * An ALTER TABLE takes effect as a whole or not at all, and MySQL knows no IF NOT EXISTS in it: one that
 * finds its work done was run by an instance that was killed before it could mark it.
 */
async function runOnce(connection: Connection, sql: string): Promise<void> {
  try {
    await connection.query(sql);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!ALTERED_BEFORE.has(code)) throw error;
  }
}
