import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cacheFolder } from "./cache-folder.ts";
import { startDatabase } from "./database.ts";
import { createFakeClock, type FakeClock } from "./faketime.ts";
import { createProgress, silentProgress } from "./progress.ts";

const { DATABASE_URL: _given, ...env } = process.env;

let folder: string;
let fakeClock: FakeClock;
// libfaketime is fetched at the first run.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "faketime-test-"));
  fakeClock = await createFakeClock({
    cacheDir: cacheFolder(env),
    file: join(folder, "offset"),
    progress: createProgress(),
  });
}, 600_000);
afterAll(() => rm(folder, { recursive: true }));

it("moves the server's clock back and forth while it runs", async () => {
  const database = await startDatabase({
    env,
    dataDir: join(folder, "database"),
    progress: silentProgress,
    ephemeral: true,
    fakeClock,
  });
  const connection = await createConnection({ uri: database.url });
  try {
    const readOffset = async () => {
      const now = new Date().toISOString().slice(0, -1);
      const sql = "SELECT TIMESTAMPDIFF(SECOND, ?, NOW(6)) AS seconds";
      const [[row]] = await connection.query<RowDataPacket[]>(sql, [now]);
      return Number(row?.seconds);
    };
    for (const seconds of [0, -3600, 7200]) {
      await fakeClock.setOffset(seconds);
      expect(Math.abs((await readOffset()) - seconds)).toBeLessThanOrEqual(1);
    }
  } finally {
    await connection.end();
    await database.stop();
  }
});
