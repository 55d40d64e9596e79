import { join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { isUbuntu } from "./debian.ts";
import { findOrFetch } from "./find-or-fetch.ts";
import { runCommand } from "./run-command.ts";
import { NOEXEC_ADVICE, StackError } from "./stack-error.ts";
import type { StackOptions } from "./stack-options.ts";
import { type Launch, launchFromRoot, writeLauncher } from "./unpacked-root.ts";

/** The display name of each flavour. */
export const FLAVOUR_NAMES = { mysql: "MySQL", mariadb: "MariaDB" };
export type ServerFlavour = keyof typeof FLAVOUR_NAMES;

/** A database server program for this machine. It reads no option files. */
export interface ServerProgram extends Launch {
  flavour: ServerFlavour;
  /** Three numbers, such as "10.11.19". */
  version: string;
}

const UNPACKED = "usr/sbin/mysqld";

/**
 * Finds a database server program: the one that `MYSQLD` names, one on the machine, or the distribution's on Debian
 * and Ubuntu, downloaded into the cache.
 */
export async function findDatabaseServer(options: StackOptions): Promise<ServerProgram> {
  const launch = await findOrFetch(
    {
      ...{ title: "the database server", given: { MYSQLD: options.env.MYSQLD } },
      ...{ called: ["mariadbd", "mysqld"], packages: ["default-mysql-server-core"] },
      ...{ folder: "database", megabytes: 400, path: UNPACKED },
      advice: "set DATABASE_URL to a running MySQL or MariaDB, ",
    },
    options,
  );
  return inspectServer(launch);
}

/**
 * Downloads a real MySQL server, not MariaDB. Returns the path of a program that runs it like any `mysqld`. Debian's
 * stable releases have none, so on Debian this downloads unstable's, with its libraries.
 */
export async function fetchRealMysql(options: StackOptions): Promise<string> {
  const isFromUbuntu = await isUbuntu();
  const packages = {
    names: [isFromUbuntu ? "default-mysql-server-core" : "mysql-server-core"],
    suite: isFromUbuntu ? "distribution" : "sid",
    ...{ title: "MySQL", folder: "real-mysql", megabytes: 700 },
    otherwise: "set MYSQLD to the path of a MySQL server program",
  } as const;
  const root = await fetchAptPackages(packages, options);
  const program = await inspectServer(launchFromRoot(root, UNPACKED));
  if (program.flavour !== "mysql") {
    throw new StackError(`The package in ${root.folder} is not MySQL: remove it and try again.`);
  }
  // The launcher already passes --no-defaults. `shift` drops the caller's first option, which is the same.
  return writeLauncher(join(root.folder, "mysqld"), program, ["shift"]);
}

/** Reads flavour and version of a server program. Throws if it does not run or is no database server. */
async function inspectServer({ command, leading, root }: Launch): Promise<ServerProgram> {
  const usr = root && join(root.folder, "usr");
  const placement = usr
    ? [
        `--basedir=${usr}`,
        `--lc-messages-dir=${usr}/share/mysql`,
        `--character-sets-dir=${usr}/share/mysql/charsets`,
      ]
    : [];
  const { status, lines } = await runCommand(command, [...leading, "--no-defaults", "--version"]);
  // Parses a line such as "mysqld Ver 9.7.0 for Linux on x86_64".
  const [, version, suffix = ""] = /\bVer (\d+\.\d+\.\d+)(\S*)/.exec(lines.join("\n")) ?? [];
  if (status === 0 && version !== undefined) {
    const flavour = /mariadb/i.test(suffix) ? "mariadb" : "mysql";
    return { command, leading: [...leading, "--no-defaults", ...placement], flavour, version };
  }
  const cause = lines.find((line) => line.trim() !== "") ?? "it says nothing";
  const advice = root ? `${NOEXEC_ADVICE}, or ` : "";
  throw new StackError(
    `${leading.at(-1) ?? command} is not a database server that runs here (${cause}): ${advice}set MYSQLD to a mysqld or mariadbd program, or unset it.`,
  );
}
