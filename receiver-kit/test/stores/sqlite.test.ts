import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { useFolder } from "../../../test/harness/use-started.ts";
import { createSqliteClaims } from "../../src/stores/sqlite/claims.ts";
import { createSqliteTransactionStore, createTable } from "../../src/stores/sqlite/index.ts";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

const folder = useFolder("receiver-kit-sqlite");

for (const client of ["node:sqlite", "better-sqlite3"] as const) {
  const file = path.join(folder, `${client.replace(":", "-")}.db`);
  describeStore(client, { open: () => OPEN_BY_CLIENT[client](file), url: () => file });
}

it("rejects if the newest time of a record cannot be committed", async () => {
  const file = path.join(folder, "busy.db");
  const open = () => new DatabaseSync(file, { timeout: 100 });
  const [db, reader] = [open(), open()];
  createTable(db);
  const claims = createSqliteClaims(db);
  reader.exec("BEGIN; SELECT * FROM receiver_kit_event");
  await expect(claims.keepNewest("record", "2026", 60_000)).rejects.toThrow("locked");
  reader.exec("ROLLBACK");
  expect(await claims.keepNewest("record", "", 60_000)).toBe("");
  for (const each of [db, reader]) each.close();
});

it("rejects with the work's error when SQLite has rolled back by itself", async () => {
  const db = new DatabaseSync(":memory:");
  createTable(db);
  db.exec("CREATE TABLE one (id INTEGER PRIMARY KEY)");
  const store = createSqliteTransactionStore(db);
  const failing = store.runOnce("event", async () => {
    db.exec("INSERT OR ROLLBACK INTO one VALUES (1), (1)");
  });
  await expect(failing).rejects.toThrow("UNIQUE constraint failed");
  db.close();
});
