import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, inject, it } from "vitest";
import { createTestDatabase, useTestDatabase } from "../../../test/harness/database.ts";
import { migrate } from "./migrate.ts";

const database = useTestDatabase();

const marks = async () =>
  database.column<string>("SELECT name FROM schema_migration ORDER BY version");

it("finishes after a kill between any statement and its mark", async () => {
  const before = await marks();
  for (const kept of before.keys()) {
    await database.query("DELETE FROM schema_migration WHERE version > ?", [kept]);
    await migrate(database.url);
    expect(await marks()).toEqual(before);
  }
});

it("keeps the database's id when migrations run again", async () => {
  const names = () => database.query<{ id: string }>("SELECT id FROM installation");
  const before = await names();
  expect(before).toEqual([{ id: expect.stringMatching(/^[0-9a-f]{12}$/) }]);
  await database.query("DELETE FROM schema_migration WHERE version >= 17");
  await migrate(database.url);
  expect(await names()).toEqual(before);
  const other = await createTestDatabase();
  expect(await other.query("SELECT id FROM installation")).not.toEqual(before);
  await other.drop();
});

it.skipIf(inject("shards") !== undefined)(
  "refuses a database with another program's tables, and changes nothing there",
  async () => {
    const other = await createTestDatabase(undefined, { migrated: false });
    await other.query("CREATE TABLE endpoint (id INT PRIMARY KEY)");
    const before = await other.query("SHOW CREATE TABLE endpoint");
    await expect(migrate(other.url)).rejects.toThrow(
      "DATABASE_URL leads to a database with another program's tables, such as endpoint: name an empty database.",
    );
    expect(await other.query("SHOW TABLES")).toHaveLength(1);
    expect(await other.query("SHOW CREATE TABLE endpoint")).toEqual(before);
    await other.drop();
  },
);

it.skipIf(inject("shards") !== undefined)("asks for the name of a database", async () => {
  const { href } = Object.assign(new URL(database.url), { pathname: "/" });
  await expect(migrate(href)).rejects.toThrow("DATABASE_URL must name a database.");
});

it.skipIf(inject("shards") !== undefined)(
  "needs no right to create tables and waits for no backup's lock if no migration is due",
  async () => {
    const url = new URL(database.url);
    const name = url.pathname.slice(1);
    Object.assign(url, { username: name, password: "of-a-test" });
    await database.query(`CREATE USER ${name}@'%' IDENTIFIED BY 'of-a-test'`);
    await database.query(`GRANT SELECT ON ${name}.* TO ${name}@'%'`);
    expect(await migrate(url.href)).toEqual([]);
    await database.query(`DROP USER ${name}@'%'`);
    const version = await database.value<string>("SELECT VERSION()");
    // Ends here on MariaDB, which has no LOCK INSTANCE. MariaDB's own backup locks do not stop a start.
    if (version?.includes("MariaDB")) return;
    await database.query("LOCK INSTANCE FOR BACKUP");
    // Ends the lock even if the migration waits, because other tests must create tables.
    const migrated = await Promise.race([migrate(database.url), wait(10_000, "waits")]);
    await database.query("UNLOCK INSTANCE");
    expect(migrated).toEqual([]);
  },
);

describe("a database that a newer program migrated, ADR 0044", () => {
  const mark = (version: number, needs: number) =>
    database.query(
      `INSERT INTO schema_migration (version, name, checksum, needs, applied_at)
       VALUES (?, CONCAT(?, '_newer.sql'), REPEAT('0', 64), ?, 1)`,
      [version, version, needs],
    );
  const lastKnown = async () => Number((await marks()).at(-1)?.slice(0, 4));

  it("is accepted by a program that knows what its migrations need, and refused by any other", async () => {
    const known = await lastKnown();
    await mark(9000, 0);
    await mark(9001, known);
    expect(await migrate(database.url)).toEqual(["9000_newer.sql", "9001_newer.sql"]);
    await mark(9002, known + 1);
    await mark(9003, 0);
    await expect(migrate(database.url)).rejects.toThrow(
      "The database was migrated by a newer version of this program (9002_newer.sql). This version cannot run beside it. Run that version or a later one.",
    );
    await database.query("DELETE FROM schema_migration WHERE version > 8999");
    expect(await migrate(database.url)).toEqual([]);
  });

  it("is refused if an applied migration differs from this program's", async () => {
    const known = await lastKnown();
    const set = (checksum: string) =>
      database.query(`UPDATE schema_migration SET checksum = ${checksum} WHERE version = ?`, [
        known,
      ]);
    await set("REVERSE(checksum)");
    await expect(migrate(database.url)).rejects.toThrow("was changed after it was applied");
    await set("REVERSE(checksum)");
    await database.query("UPDATE schema_migration SET version = 9000 WHERE version = ?", [known]);
    await expect(migrate(database.url)).rejects.toThrow("a newer version of this program");
    await database.query("UPDATE schema_migration SET version = ? WHERE version = 9000", [known]);
  });
});

it("refuses a database that lacks the mark of an earlier migration, and names it", async () => {
  const [lacking = "", last] = (await marks()).slice(-2);
  const move = (from: number, to: number) =>
    database.query("UPDATE schema_migration SET version = ? WHERE version = ?", [to, from]);
  const version = Number(lacking.slice(0, 4));
  await move(version, 9000);
  await expect(migrate(database.url)).rejects.toThrow(
    `The table schema_migration has the row ${last}, but lacks ${lacking} before it.`,
  );
  await move(9000, version);
});
