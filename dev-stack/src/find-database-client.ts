import { join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { readOsRelease } from "./debian-sources.ts";
import { findProgram } from "./find-program.ts";
import { canFetchAptPackages } from "./find-server.ts";
import type { Progress } from "./progress.ts";
import type { ServerFlavour } from "./server-program.ts";
import { StackError } from "./stack-error.ts";
import { type Launch, launchFromRoot } from "./unpacked-root.ts";

/** A client of a database, and what dumps it. */
export type DatabaseClient = { readonly client: Launch; readonly dump: Launch };

const NAMES = {
  mariadb: { client: "mariadb", dump: "mariadb-dump" },
  mysql: { client: "mysql", dump: "mysqldump" },
} satisfies Record<ServerFlavour, Record<keyof DatabaseClient, string>>;

/** Finds the client programs of a database, to test with: on the machine, or the distribution's, fetched. */
export async function findDatabaseClient(
  flavour: ServerFlavour,
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<DatabaseClient> {
  const names = NAMES[flavour];
  const client = await findProgram(env, [names.client]);
  const dump = await findProgram(env, [names.dump]);
  if (client !== undefined && dump !== undefined) {
    return { client: { command: client, leading: [] }, dump: { command: dump, leading: [] } };
  }
  if (!(await canFetchAptPackages(env))) {
    throw new StackError(
      `No ${names.dump} found: install the client programs of the database so that they are on PATH.`,
    );
  }
  // As with the server: Debian's stable releases have no MySQL.
  const isUnstable = flavour === "mysql" && (await readOsRelease()).get("ID") !== "ubuntu";
  const root = await fetchAptPackages({
    names: [flavour === "mysql" ? "mysql-client-core" : "mariadb-client"],
    suite: isUnstable ? "sid" : "distribution",
    into: join(cacheDir, `${flavour}-client-${process.arch}`),
    title: "the database's client programs",
    megabytes: 400,
    progress,
  });
  return {
    client: launchFromRoot(root, `usr/bin/${names.client}`),
    dump: launchFromRoot(root, `usr/bin/${names.dump}`),
  };
}
