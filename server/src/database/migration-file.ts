import { createHash } from "node:crypto";

/** The database cannot get this program's schema. The message says what to do. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** A numbered file of `migrations`: one statement. */
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly checksum: string;
  /** The last migration that a program must know to run on this schema or a later one. 0 means none. ADR 0044 */
  readonly needs: number;
};

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
const FIRST_LINE = /^-- needs (\d{4})$/;
/** Tells whether a file of the folder is a migration, by its name. */
export function isMigrationFile(name: string): boolean {
  return FILE_NAME.test(name);
}

/**
 * Reads a migration from its file's name and text. A text that begins with a wrong `-- needs` throws a MigrationError.
 */
export function migrationFrom(name: string, sql: string): Migration {
  const version = Number(name.slice(0, 4));
  const [firstLine = ""] = sql.split("\n", 1);
  const needs = Number(FIRST_LINE.exec(firstLine)?.[1] ?? 0);
  if (/^--\s*needs\b/i.test(firstLine) && (needs === 0 || needs >= version)) {
    throw new MigrationError(
      `${name} must begin with "-- needs NNNN", the number of a migration before it, or without that line.`,
    );
  }
  const checksum = createHash("sha256").update(sql).digest("hex");
  return { version, name, sql, checksum, needs };
}
