import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isUbuntu } from "../../dev-stack/src/debian.ts";
import { findOrFetch } from "../../dev-stack/src/find-or-fetch.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { writeLauncher } from "../../dev-stack/src/unpacked-root.ts";
import { ROOT, readText } from "../architecture/import-rule.ts";
import type { TestDatabase } from "../harness/database.ts";
import { readBlocks } from "./harness-page.ts";

/** Runs the backup commands of docs/operating.md exactly as written. */
export type Backups = Awaited<ReturnType<typeof createBackups>>;

/** Prepares a folder for the commands, with the server of a database. */
export async function createBackups(folder: string, database: TestDatabase) {
  const [row] = await database.query<{ version: string }>("SELECT VERSION() AS version");
  const isMysql = !row?.version.includes("MariaDB");
  const { env } = process;
  const bin = join(folder, "bin");
  await mkdir(bin);
  for (const name of isMysql ? ["mysql", "mysqldump"] : ["mariadb", "mariadb-dump"]) {
    const program = {
      ...{ title: "the database's client programs", called: [name], path: `usr/bin/${name}` },
      packages: [isMysql ? "mysql-client-core" : "mariadb-client"],
      folder: `${isMysql ? "mysql" : "mariadb"}-client`,
      // Debian's stable releases have no MySQL, but its unstable release `sid` has.
      suite: isMysql && !(await isUbuntu()) ? "sid" : "distribution",
      megabytes: 400,
    } as const;
    const launch = await findOrFetch(program, { env, progress: createProgress() });
    // Lets the commands find the program by its name.
    await writeLauncher(join(bin, name), launch);
  }
  await symlink(join(ROOT, "deploy"), join(folder, "deploy"));
  const { hostname, port, username, password } = new URL(database.url);
  const options = { host: hostname, port, user: username, password, protocol: "tcp" };
  const lines = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  await writeFile(join(folder, "backup.cnf"), `[client]\n${lines.join("\n")}\n`, { mode: 0o600 });
  const [dumping = "", restoring = ""] = readBlocks(readText("docs/operating.md"))
    .filter(({ title }) => title === "Backup and restore")
    .map(({ commands }) => commands);

  async function run(commands: string, variables: Record<string, string>) {
    const own = isMysql ? onMysql(commands) : commands;
    const { status, lines } = await runCommand("sh", ["-ec", `cd "$FOLDER"\n${own}`], {
      variables: { ...variables, FOLDER: folder, PATH: `${bin}:${env.PATH}` },
    });
    if (status !== 0) throw new Error(`${own}\nended with ${status}: ${lines.join("\n")}`);
    return lines;
  }

  return {
    async dump(database: string) {
      await run(dumping, { DATABASE: database });
      return join(folder, "backup.sql");
    },
    /** Restores the dump as another database. Returns the commands' output. */
    restore: (restored: string) => run(restoring, { RESTORED: restored }),
  };
}

/** Makes the changes that the page describes for MySQL. */
const onMysql = (commands: string) =>
  commands
    .replace(/^mariadb-dump/gm, "mysqldump")
    .replace(/--ignore-table-data=\S+/, "--no-tablespaces --set-gtid-purged=OFF")
    .replace(/^mariadb /gm, "mysql ");
