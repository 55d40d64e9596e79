import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isMigrationFile, type Migration, migrationFrom } from "./migration-file.ts";

/** Changes after which an older program's statements fail, or the values that they wrote are lost. */
const TAKES_AWAY =
  /\b(DROP|RENAME|MODIFY|CHANGE|TRUNCATE|DELETE|ADD\s+(UNIQUE|CHECK|CONSTRAINT|FOREIGN|PRIMARY)|CREATE\s+UNIQUE)\b/i;
const NEW_KEY = /^\s*(KEY|INDEX|FULLTEXT|SPATIAL)\b/i;
const MAY_BE_LEFT_OUT = /\bDEFAULT\b|\bGENERATED\b|\bAS\s*\(/i;

const FOLDER = new URL("./migrations/", import.meta.url);
const file = (sql: string) => migrationFrom("0025_change.sql", sql);

describe("a migration, ADR 0044", () => {
  it("names in its first line the last migration that other programs must know", () => {
    expect(file("-- needs 0024\nALTER TABLE account DROP COLUMN old;")).toMatchObject({
      needs: 24,
    });
    expect(file("-- Says why.\nALTER TABLE account ADD KEY k (a);")).toMatchObject({ needs: 0 });
  });

  it.each(["-- needs 0025", "-- needs 24", "-- needs", "--needs 0024", "-- Needs 0024"])(
    "is refused with %s",
    (line) => {
      expect(() => file(`${line}\nSELECT 1;`)).toThrow(
        '0025_change.sql must begin with "-- needs NNNN"',
      );
    },
  );

  it.each(readdirSync(FOLDER).filter(isMigrationFile))("only adds: %s", (name) => {
    const sql = readFileSync(new URL(name, FOLDER), "utf8");
    expect(takenAway(migrationFrom(name, sql))).toBeUndefined();
  });

  it.each([
    "ALTER TABLE account DROP COLUMN username;",
    "ALTER TABLE account RENAME COLUMN username TO name;",
    "ALTER TABLE account MODIFY username VARCHAR(10) NOT NULL;",
    "ALTER TABLE account CHANGE username name TEXT;",
    "ALTER TABLE account ADD UNIQUE KEY k (username);",
    "ALTER TABLE account ADD CONSTRAINT c CHECK (a > 0);",
    "ALTER TABLE account ADD COLUMN a VARCHAR(10) CHARACTER SET ascii NOT NULL;",
    "ALTER TABLE account ADD COLUMN a INT DEFAULT 1, ADD COLUMN b DECIMAL(10, 2) NOT NULL;",
    "ALTER TABLE account ADD a INT NOT NULL;",
    "DROP TABLE account;",
    "DELETE FROM account;",
  ])("takes away without saying so: %s", (sql) => {
    expect(takenAway(file(sql))).toBeTypeOf("string");
    expect(takenAway(file(`-- needs 0024\n${sql}`))).toBeUndefined();
  });
});

/**
 * Returns what a migration without `-- needs` takes away from older programs. Returns `undefined` if it only adds:
 * tables, keys that forbid nothing new, and columns that an INSERT may omit.
 */
function takenAway({ sql, needs }: Migration): string | undefined {
  if (needs > 0) return undefined;
  const statement = sql.replaceAll(/--.*$/gm, "");
  if (/^\s*CREATE\s+TABLE\b/i.test(statement)) return undefined;
  const [, ...added] = statement.split(/\bADD\b/i);
  const columns = added.filter((text) => !NEW_KEY.test(text));
  const required = columns.find(
    (column) => /\bNOT\s+NULL\b/i.test(column) && !MAY_BE_LEFT_OUT.test(column),
  );
  return TAKES_AWAY.exec(statement)?.[0] ?? required?.trim();
}
