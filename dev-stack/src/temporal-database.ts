import { type RunningDatabase, startDatabase } from "./database.ts";
import type { Progress } from "./progress.ts";
import { fetchRealMysql } from "./real-mysql.ts";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";

export interface StartTemporalDatabase {
  /** `MYSQLD` is read from here, and PATH. */
  env: NodeJS.ProcessEnv;
  dataDir: string;
  cacheDir: string;
  progress: Progress;
  /** Temporal's own program that makes its tables. */
  sqlTool: string;
}

/** A MySQL server with the two databases of a Temporal cluster. */
export interface TemporalDatabase {
  /** What Temporal's own configuration template reads to find them. */
  variables: Readonly<Record<string, string>>;
  url: string;
  pid: number | undefined;
  stop(): Promise<void>;
}

/** The state of workflows, and what they are listed and searched by. */
const DATABASES = {
  temporal: "mysql/v8/temporal",
  temporal_visibility: "mysql/v8/visibility",
};

/**
 * Starts a MySQL server and makes Temporal's tables in it. MariaDB does not do: the tables of the visibility store
 * have columns and keys over paths in JSON (`->`, `ARRAY`) that it does not know.
 */
export async function startTemporalDatabase({
  env: { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...env },
  dataDir,
  cacheDir,
  progress,
  sqlTool,
}: StartTemporalDatabase): Promise<TemporalDatabase> {
  const MYSQLD = env.MYSQLD ?? (await fetchRealMysql({ env, cacheDir, progress }));
  const database = await startDatabase({
    ...{ env: { ...env, MYSQLD }, dataDir, cacheDir, progress },
    // The databases have names of Temporal's own, to which an ordinary user has no right.
    ephemeral: true,
  });
  try {
    await progress.step("Making Temporal's tables", () => makeTables(sqlTool, database));
  } catch (error) {
    await database.stop();
    throw error;
  }
  const { hostname, port, username, password } = new URL(database.url);
  return {
    variables: {
      DB: "mysql8",
      MYSQL_SEEDS: hostname,
      DB_PORT: port,
      MYSQL_USER: username,
      MYSQL_PWD: password,
    },
    url: database.url,
    pid: database.pid,
    stop: database.stop,
  };
}

async function makeTables(sqlTool: string, { url, flavour }: RunningDatabase): Promise<void> {
  const { hostname, port, username, password } = new URL(url);
  const variables = {
    SQL_PLUGIN: "mysql8",
    SQL_HOST: hostname,
    SQL_PORT: port,
    SQL_USER: username,
    SQL_PASSWORD: password,
  };
  for (const [name, schema] of Object.entries(DATABASES)) {
    for (const args of [
      ["create-database"],
      ["setup-schema", "--version", "0.0"],
      ["update-schema", "--schema-name", schema],
    ]) {
      const { status, lines } = await runCommand(sqlTool, ["--database", name, ...args], {
        variables,
      });
      if (status === 0) continue;
      const why = lines.findLast((line) => line.includes("rror")) ?? lines.at(-1) ?? "";
      throw new StackError(
        `Temporal's tables could not be made on ${flavour === "mariadb" ? "MariaDB, which they do not suit" : "this MySQL"}: ${why.slice(0, 500)}.`,
      );
    }
  }
}
