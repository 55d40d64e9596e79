import { expect, it } from "vitest";
import { connectTo, useTestDatabase } from "../../../test/harness/database.ts";
import { migrate } from "./migrate.ts";

const database = useTestDatabase();

it("a migration that waits for a dump stops no other statement on its table for long", async () => {
  await database.query("ALTER TABLE delivery_attempt DROP COLUMN response_headers");
  await database.query("DELETE FROM schema_migration WHERE version >= 35");
  const others = connectTo(database.url);
  // A read that waits longer than ten seconds fails. Each try of the migration gives up after three seconds.
  await others.query("SET SESSION lock_wait_timeout = 10");
  const read = () => others.query("SELECT COUNT(*) FROM delivery_attempt");
  await database.query("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  await database.query("SELECT COUNT(*) FROM delivery_attempt");
  const migrated = migrate(database.url);
  // The migration's file begins with this comment.
  const isWaiting = () => database.isRunning("-- The first header lines");
  await expect.poll(isWaiting).toBe(true);
  // Reads again, because the migration may begin to wait after the first read.
  do await read();
  while (await isWaiting());
  await database.query("COMMIT");
  expect(await migrated).toEqual([]);
  await others.query("SELECT response_headers FROM delivery_attempt");
  await others.end();
});
