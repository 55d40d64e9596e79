import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findLogCause } from "./log-cause.ts";
import { runCommand } from "./run-command.ts";
import { createOptions } from "./server-options.ts";
import { FLAVOUR_NAMES, type ServerProgram } from "./server-program.ts";
import { StackError } from "./stack-error.ts";

/** The files MariaDB's own set-up script feeds to the server, each by its names over the years. */
const MARIADB_FILES = [
  ["mariadb_system_tables.sql", "mysql_system_tables.sql"],
  ["mariadb_performance_tables.sql", "mysql_performance_tables.sql"],
  ["mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"],
  ["maria_add_gis_sp_bootstrap.sql"],
  ["mariadb_sys_schema.sql", "mysql_sys_schema.sql"],
] as const;

/** Fills an empty folder with the system's tables and a root user who can only use the socket. */
export async function createServerData(
  program: ServerProgram,
  data: string,
  isEphemeral: boolean,
): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  const isMysql = program.flavour === "mysql";
  const input = isMysql ? undefined : await readMariadbTables(program);
  const { status, lines } = await runCommand(
    program.command,
    [
      ...program.leading,
      "--no-defaults",
      ...program.placement,
      ...createOptions(program.flavour, data, isEphemeral),
      ...(isMysql ? ["--initialize-insecure"] : ["--bootstrap", "--skip-networking"]),
    ],
    { input },
  );
  if (status === 0) return;
  const { sentence } = findLogCause(lines.join("\n"));
  throw new StackError(
    `${FLAVOUR_NAMES[program.flavour]} could not create its data in ${data}: ${sentence}.`,
  );
}

async function readMariadbTables(program: ServerProgram): Promise<string> {
  const share = await findShareFolder(program);
  const texts = MARIADB_FILES.map((names) => readFirst(share, names));
  return [
    "create database if not exists mysql;",
    "use mysql;",
    "SET @auth_root_socket=NULL;",
    ...(await Promise.all(texts)),
    // The others would let root in over the network, without a password.
    "DELETE FROM global_priv WHERE User = 'root' AND Host <> 'localhost';",
    "",
  ].join("\n");
}

/** Finds where a MariaDB keeps those files: beside its character sets, whatever the layout. */
async function findShareFolder({ command, leading, placement }: ServerProgram): Promise<string> {
  const args = [...leading, "--no-defaults", ...placement, "--verbose", "--help"];
  const { lines } = await runCommand(command, args, { keptLines: Number.POSITIVE_INFINITY });
  const option = lines.find((line) => line.startsWith("character-sets-dir "));
  return dirname(join("/", (option ?? "").replace("character-sets-dir", "").trim(), "."));
}

async function readFirst(folder: string, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const text = await readFile(join(folder, name), "utf8").catch(() => undefined);
    if (text !== undefined) return text;
  }
  throw new StackError(
    `${folder} lacks ${names[0]}, so no database can be created: install MariaDB's server package whole, or set MYSQLD to another server.`,
  );
}
