import { type RunningDatabase, startDatabase } from "../../dev-stack/src/database.ts";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { fetchRealMysql } from "../../dev-stack/src/server-program.ts";
import { StackError } from "../../dev-stack/src/stack-error.ts";
import type { StackOptions } from "../../dev-stack/src/stack-options.ts";

export interface StartTemporalDatabase extends StackOptions {
  dataDir: string;
  /** Temporal's own program that creates its tables. */
  sqlTool: string;
}

/** A MySQL server with the two databases of a Temporal cluster. */
export interface TemporalDatabase extends RunningDatabase {
  /** The variables of Temporal's configuration template that point to the databases. */
  variables: Readonly<Record<string, string>>;
}

/** One database for the state of workflows, one for listing and searching them. */
const DATABASES = { temporal: "mysql/v8/temporal", temporal_visibility: "mysql/v8/visibility" };

/**
 * Starts a MySQL server and creates Temporal's tables. MariaDB cannot be used: it lacks the columns and keys over
 * JSON paths (`->`, `ARRAY`) of the visibility store.
 */
export async function startTemporalDatabase(
  options: StartTemporalDatabase,
): Promise<TemporalDatabase> {
  const { progress, sqlTool } = options;
  const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...env } = options.env;
  const MYSQLD = env.MYSQLD ?? (await fetchRealMysql(options));
  // Temporal names its databases itself, and an ordinary user has no rights to those names.
  const database = await startDatabase({ ...options, env: { ...env, MYSQLD }, ephemeral: true });
  const { hostname: host, port, username: user, password } = new URL(database.url);
  const ofTool = { SQL_HOST: host, SQL_PORT: port, SQL_USER: user, SQL_PASSWORD: password };
  try {
    await progress.step("Making Temporal's tables", () =>
      makeTables(sqlTool, { ...ofTool, SQL_PLUGIN: "mysql8" }),
    );
  } catch (error) {
    await database.stop();
    throw error;
  }
  const ofServer = { MYSQL_SEEDS: host, DB_PORT: port, MYSQL_USER: user, MYSQL_PWD: password };
  return { ...database, variables: { ...ofServer, DB: "mysql8" } };
}

async function makeTables(sqlTool: string, variables: Record<string, string>): Promise<void> {
  for (const [name, schema] of Object.entries(DATABASES)) {
    for (const args of [
      ["create-database"],
      ["setup-schema", "--version", "0.0"],
      ["update-schema", "--schema-name", schema],
    ]) {
      const all = ["--database", name, ...args];
      const { status, lines } = await runCommand(sqlTool, all, { variables });
      if (status === 0) continue;
      const why = lines.findLast((line) => line.includes("rror")) ?? lines.at(-1) ?? "";
      throw new StackError(`Temporal's tables could not be made: ${why.slice(0, 500)}.`);
    }
  }
}
