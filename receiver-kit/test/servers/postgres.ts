import { execFile } from "node:child_process";
import { chmod, chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fetchAptPackages } from "../../../dev-stack/src/apt-packages.ts";
import { cacheFolder } from "../../../dev-stack/src/cache-folder.ts";
import { findProgram } from "../../../dev-stack/src/find-program.ts";
import { findFreePort, LOOPBACK } from "../../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../../dev-stack/src/progress.ts";

const run = promisify(execFile);
const NOBODY = 65_534;
const DEBIAN_FOLDER = "/usr/lib/postgresql";

/** A temporary PostgreSQL. */
export interface RunningPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

interface Programs {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts an empty PostgreSQL. It uses the machine's program, or downloads the distribution's. */
export async function startPostgres(): Promise<RunningPostgres> {
  const programs = await findPrograms();
  const folder = await mkdtemp(join(tmpdir(), "receiver-kit-postgres-"));
  // PostgreSQL refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  await chmod(folder, 0o700);

  const data = join(folder, "data");
  const options = { ...user, env: programs.env, cwd: folder };
  await run(programs.initdb, ["-D", data, "-U", "kit", "-A", "trust", "--no-sync"], options);
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
  const [installed] = await readdir(DEBIAN_FOLDER).catch(() => []);
  if (installed) return programsIn(join(DEBIAN_FOLDER, installed, "bin"), process.env);
  return fetchPrograms();
}

async function fetchPrograms(): Promise<Programs> {
  // The server runs as another user, who must be able to read this folder.
  const cacheDir =
    process.getuid?.() === 0 ? "/var/cache/personal-activity" : cacheFolder(process.env);
  const root = await fetchAptPackages(
    {
      ...{ title: "PostgreSQL", names: ["postgresql"], folder: "postgres", megabytes: 500 },
      otherwise: "install one so that initdb and pg_ctl are on PATH",
    },
    { env: process.env, cacheDir, progress: silentProgress },
  );
  await chmod(root.folder, 0o755);
  const versions = await readdir(join(root.folder, DEBIAN_FOLDER));
  const env = { ...process.env, LD_LIBRARY_PATH: root.libraryFolders.join(":") };
  return programsIn(join(root.folder, DEBIAN_FOLDER, versions[0] ?? "", "bin"), env);
}

function programsIn(folder: string, env: NodeJS.ProcessEnv): Programs {
  return { initdb: join(folder, "initdb"), pgCtl: join(folder, "pg_ctl"), env };
}
