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

it("names the database once, whatever is run again, ADR 0028", async () => {
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
