import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

const folder = mkdtempSync(path.join(tmpdir(), "receiver-kit-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));

for (const client of ["node:sqlite", "better-sqlite3"] as const) {
  const file = path.join(folder, `${client.replace(":", "-")}.db`);
  describeStore(client, { open: () => OPEN_BY_CLIENT[client](file), url: () => file });
}
