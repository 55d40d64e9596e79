import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDatabase } from "../../../dev-stack/src/database.ts";
import { silentProgress } from "../../../dev-stack/src/progress.ts";

/**
 * Starts an empty, temporary server. It runs the program in `MYSQLD`, the machine's program, or the distribution's,
 * which it downloads.
 */
export async function startMysql() {
  const dataDir = await mkdtemp(join(tmpdir(), "receiver-kit-mysql-"));
  const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...env } = process.env;
  const server = await startDatabase({ env, dataDir, progress: silentProgress, ephemeral: true });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
