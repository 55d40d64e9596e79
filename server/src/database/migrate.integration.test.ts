import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/harness/database.ts";
import { migrate } from "./migrate.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const marks = async () =>
  (
    await database.query<{ name: string }>("SELECT name FROM schema_migration ORDER BY version")
  ).map(({ name }) => name);

it("finishes after a kill between a statement and its mark, whichever it was", async () => {
  const before = await marks();
  for (const kept of before.keys()) {
    await database.query("DELETE FROM schema_migration WHERE version > ?", [kept]);
    await migrate(database.url);
    expect(await marks()).toEqual(before);
  }
});

it("clears entries of the outbox whose delivery was removed", async () => {
  await database.query("DELETE FROM schema_migration WHERE version >= 22");
  await database.query(
    "INSERT INTO outbox_entry VALUES (1, 1, 'delivery', 1, 0, 'endpoint', NULL)",
  );
  await migrate(database.url);
  expect(await database.query("SELECT 1 FROM outbox_entry")).toEqual([]);
});
