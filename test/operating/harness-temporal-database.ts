import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startDatabase } from "../../dev-stack/src/database.ts";
import { fetchRealMysql } from "../../dev-stack/src/server-program.ts";
import type { StackOptions } from "../../dev-stack/src/stack-options.ts";

/** One database for the state of workflows, one for listing and searching them. */
const DATABASES = { temporal: "mysql/v8/temporal", temporal_visibility: "mysql/v8/visibility" };

/**
 * Starts a MySQL server and creates a cluster's tables with `sqlTool`, Temporal's own program. Returns the server and
 * the variables of Temporal's configuration template that point to it. MariaDB cannot be used: it lacks the columns
 * and keys over JSON paths (`->`, `ARRAY`) of the visibility store.
 */
export async function startTemporalDatabase(
  options: StackOptions & { readonly dataDir: string; readonly sqlTool: string },
) {
  const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...env } = options.env;
  const MYSQLD = env.MYSQLD ?? (await fetchRealMysql(options));
  // Temporal names its databases itself, and an ordinary user has no rights to those names.
  const database = await startDatabase({ ...options, env: { ...env, MYSQLD }, ephemeral: true });
  const { hostname: host, port, username: user, password } = new URL(database.url);
  const ofTool = { SQL_HOST: host, SQL_PORT: port, SQL_USER: user, SQL_PASSWORD: password };
  const make = () => makeTables(options.sqlTool, { ...env, ...ofTool, SQL_PLUGIN: "mysql8" });
  try {
    await options.progress.step("Making Temporal's tables", make);
  } catch (error) {
    await database.stop();
    throw error;
  }
  const ofServer = { MYSQL_SEEDS: host, DB_PORT: port, MYSQL_USER: user, MYSQL_PWD: password };
  return { ...database, variables: { ...ofServer, DB: "mysql8" } };
}

async function makeTables(sqlTool: string, env: NodeJS.ProcessEnv): Promise<void> {
  for (const [name, schema] of Object.entries(DATABASES)) {
    for (const args of [
      ["create-database"],
      ["setup-schema", "--version", "0.0"],
      ["update-schema", "--schema-name", schema],
    ]) {
      await promisify(execFile)(sqlTool, ["--database", name, ...args], { env });
    }
  }
}
