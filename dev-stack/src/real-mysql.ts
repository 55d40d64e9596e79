import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { readOsRelease } from "./debian-sources.ts";
import { canFetchAptPackages } from "./find-server.ts";
import type { Progress } from "./progress.ts";
import { inspectUnpackedServer, type ServerProgram } from "./server-program.ts";
import { StackError } from "./stack-error.ts";

export interface FetchRealMysql {
  env: NodeJS.ProcessEnv;
  cacheDir: string;
  progress: Progress;
}

/**
 * Fetches a real MySQL server, not MariaDB, and returns the path of a program that runs it like any
 * `mysqld`. Debian's stable releases have none, so there it is unstable's, with unstable's libraries.
 */
export async function fetchRealMysql({ env, cacheDir, progress }: FetchRealMysql): Promise<string> {
  if (!(await canFetchAptPackages(env))) {
    throw new StackError(
      "Real MySQL is fetched with apt-get, which this machine lacks: set MYSQLD to the path of a MySQL server program instead.",
    );
  }
  const isUbuntu = (await readOsRelease()).get("ID") === "ubuntu";
  const folder = join(cacheDir, `real-mysql-${process.arch}`);
  const root = await fetchAptPackages({
    names: [isUbuntu ? "default-mysql-server-core" : "mysql-server-core"],
    suite: isUbuntu ? "distribution" : "sid",
    into: folder,
    title: "MySQL",
    megabytes: 700,
    progress,
  });
  const program = await inspectUnpackedServer(root);
  if (program.flavour !== "mysql") {
    throw new StackError(
      `The package in ${folder} is not MySQL: remove that folder and try again.`,
    );
  }
  return writeLauncher(join(cacheDir, `real-mysql-${process.arch}-bin`), program);
}

/** Writes a shell script that runs the program with its own loader and libraries. */
async function writeLauncher(
  folder: string,
  { command, leading, placement }: ServerProgram,
): Promise<string> {
  const quoted = (words: readonly string[]) => words.map(shellQuote).join(" ");
  const script = [
    "#!/bin/sh",
    "# --no-defaults and its like must stay the first option.",
    `case "\${1-}" in`,
    `  --no-defaults | --defaults-*) first=$1; shift; set -- "$first" ${quoted(placement)} "$@" ;;`,
    `  *) set -- ${quoted(placement)} "$@" ;;`,
    "esac",
    `exec ${quoted([command, ...leading])} "$@"`,
    "",
  ].join("\n");
  const path = join(folder, "mysqld");
  await mkdir(folder, { recursive: true });
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, script);
  await chmod(fresh, 0o755);
  await rename(fresh, path);
  return path;
}

function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
