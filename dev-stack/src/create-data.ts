import { mkdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { findLogCause } from "./log-cause.ts";
import { runCommand } from "./run-command.ts";
import { createOptions } from "./server-options.ts";
import { FLAVOUR_NAMES, type ServerProgram } from "./server-program.ts";
import { StackError } from "./stack-error.ts";

/** The files that MariaDB's set-up script runs. In older releases most names begin with `mysql_`. */
const MARIADB_FILES = [
  ...["mariadb_system_tables", "mariadb_performance_tables", "mariadb_system_tables_data"],
  ...["maria_add_gis_sp_bootstrap", "mariadb_sys_schema"],
];

/** Creates the folder `data` with the system tables and a root user who can only use the socket. */
export async function createServerData(
  { flavour, command, leading }: ServerProgram,
  data: string,
  isEphemeral: boolean,
): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  const run = (args: readonly string[], input?: string) =>
    runCommand(command, [...leading, ...args], { input });
  const options = createOptions(flavour, data, isEphemeral);
  const { status, lines } =
    flavour === "mysql"
      ? await run([...options, "--initialize-insecure"])
      : await run([...options, "--bootstrap", "--skip-networking"], await readTables());
  if (status === 0) return;
  throw new StackError(
    `${FLAVOUR_NAMES[flavour]} could not create its data in ${data}: ${findLogCause(lines.join("\n"))}.`,
  );

  async function readTables(): Promise<string> {
    // In the layout of every package, the files are in the folder above the character sets.
    const { lines } = await run(["--verbose", "--help"]);
    const option = lines.find((line) => line.startsWith("character-sets-dir ")) ?? "";
    const share = dirname(resolve("/", option.replace("character-sets-dir", "").trim()));
    return [
      "create database if not exists mysql;",
      "use mysql;",
      "SET @auth_root_socket=NULL;",
      ...(await Promise.all(MARIADB_FILES.map((name) => readSql(join(share, name))))),
      // Deletes the other root users, who could connect over the network without a password.
      "DELETE FROM global_priv WHERE User = 'root' AND Host <> 'localhost';",
      "",
    ].join("\n");
  }
}

async function readSql(path: string): Promise<string> {
  for (const file of [`${path}.sql`, `${path.replace("mariadb_", "mysql_")}.sql`]) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text !== undefined) return text;
  }
  throw new StackError(
    `${path}.sql is missing, so no database can be created: install MariaDB's server package whole, or set MYSQLD to another server.`,
  );
}
