import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { fetchAptPackages } from "../../../dev-stack/src/apt-packages.ts";
import { readReleaseName } from "../../../dev-stack/src/debian.ts";
import { findProgram } from "../../../dev-stack/src/find-program.ts";
import { findFreePort, LOOPBACK } from "../../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../../dev-stack/src/progress.ts";

const run = promisify(execFile);
const NOBODY = 65_534;
const DEBIAN_FOLDER = "/usr/lib/postgresql";

interface Programs {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts an empty, temporary PostgreSQL. It uses the machine's program, or downloads the distribution's. */
export async function startPostgres() {
  const programs = await findPrograms();
  const folder = await mkdtemp(join(tmpdir(), "receiver-kit-postgres-"));
  // PostgreSQL refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  await chmod(folder, 0o700);

  const data = join(folder, "data");
  // The server must not depend on the machine's locale, which may be unknown or not UTF-8.
  const options = { ...user, env: { ...programs.env, LC_ALL: "C" }, cwd: folder };
  const creating = ["-D", data, "-U", "kit", "-A", "trust", "-E", "UTF8", "--no-sync"];
  await run(programs.initdb, creating, options);
  const port = await findFreePort();
  const settings = `-p ${port} -c listen_addresses=${LOOPBACK} -c unix_socket_directories= -c fsync=off`;
  const start = ["-D", data, "-l", join(folder, "log"), "-w", "-o", settings, "start"];
  await run(programs.pgCtl, start, options);
  return {
    url: `postgres://kit@${LOOPBACK}:${port}/postgres`,
    async stop() {
      await run(programs.pgCtl, ["-D", data, "-m", "immediate", "stop"], options);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function findPrograms(): Promise<Programs> {
  const pgCtl = await findProgram(process.env, ["pg_ctl"]);
  const initdb = await findProgram(process.env, ["initdb"]);
  if (pgCtl && initdb) return { initdb, pgCtl, env: process.env };
  const installed = await findServerFolder(DEBIAN_FOLDER);
  return installed ? programsIn(installed, process.env) : fetchPrograms();
}

/** Finds the folder of a version that has the server's programs. The client's package has a folder without them. */
async function findServerFolder(folder: string): Promise<string | undefined> {
  const versions = await readdir(folder).catch(() => []);
  return versions
    .map((version) => join(folder, version, "bin"))
    .find((bin) => ["initdb", "pg_ctl"].every((name) => existsSync(join(bin, name))));
}

async function fetchPrograms(): Promise<Programs> {
  const isRoot = process.getuid?.() === 0;
  const env = { ...process.env, ...(isRoot && { XDG_CACHE_HOME: "/var/cache" }) };
  const root = await fetchAptPackages(
    {
      ...{ title: "PostgreSQL", names: ["postgresql"], megabytes: 500 },
      // The machine's loader runs the programs with the fetched libc, so both must be of one release.
      folder: `postgres-${await readReleaseName()}`,
      otherwise: "install one so that initdb and pg_ctl are on PATH",
    },
    { env, progress: silentProgress },
  );
  // Root starts the server as another user, who must be able to read the folder. Root's umask may forbid it.
  if (isRoot) for (const path of [dirname(root.folder), root.folder]) await chmod(path, 0o755);
  const fetched = await findServerFolder(join(root.folder, DEBIAN_FOLDER));
  const libraries = { LD_LIBRARY_PATH: root.libraryFolders.join(":") };
  return programsIn(fetched ?? root.folder, { ...process.env, ...libraries });
}

function programsIn(folder: string, env: NodeJS.ProcessEnv): Programs {
  return { initdb: join(folder, "initdb"), pgCtl: join(folder, "pg_ctl"), env };
}
