import { join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { findNamedProgram, findProgram } from "./find-program.ts";
import type { Progress } from "./progress.ts";
import {
  inspectServerProgram,
  inspectUnpackedServer,
  type ServerProgram,
} from "./server-program.ts";
import { StackError } from "./stack-error.ts";

/**
 * Finds a database server program: the one `MYSQLD` names, one on the machine, or, on Debian and
 * Ubuntu, the distribution's own, fetched into the cache folder.
 */
export async function findDatabaseServer(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<ServerProgram> {
  const named = env.MYSQLD;
  if (named) {
    const path = await findNamedProgram(env, named);
    if (path !== undefined) return inspectServerProgram(path, { command: path, leading: [] });
    throw new StackError(
      `MYSQLD names ${named}, which is not a program: set it to the path of a mysqld or mariadbd, or unset it.`,
    );
  }
  const found = await findProgram(env, ["mariadbd", "mysqld"]);
  if (found !== undefined) return inspectServerProgram(found, { command: found, leading: [] });
  if (!(await canFetchAptPackages(env))) {
    throw new StackError(
      "No database found: set DATABASE_URL to a running MySQL or MariaDB, set MYSQLD to the path of a mysqld or mariadbd program, or install one of the two so that it is on PATH.",
    );
  }
  const root = await fetchAptPackages({
    names: ["default-mysql-server-core"],
    into: join(cacheDir, `database-${process.arch}`),
    title: "the database server",
    megabytes: 400,
    progress,
  });
  return inspectUnpackedServer(root);
}

/** Tells whether this machine has what it takes to fetch and unpack packages: Debian and Ubuntu do. */
export async function canFetchAptPackages(env: NodeJS.ProcessEnv): Promise<boolean> {
  const tools = ["apt-get", "dpkg-deb"].map((name) => findProgram(env, [name]));
  return (await Promise.all(tools)).every((path) => path !== undefined);
}
