import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { readSecret } from "@activity/runtime/environment";
import { cacheFolder } from "./cache-folder.ts";
import { createServerData } from "./create-data.ts";
import { DATABASE_NAME, readCredentials } from "./credentials.ts";
import { checkDataMarker, dataFolderPaths, openDataFolder, writeMarker } from "./data-folder.ts";
import type { FakeClock } from "./faketime.ts";
import { type FileLock, tryLock } from "./file-lock.ts";
import { findDatabaseServer } from "./find-server.ts";
import { LOOPBACK } from "./free-port.ts";
import { checkGivenDatabase } from "./given-database.ts";
import type { Progress } from "./progress.ts";
import { endPreviousServer } from "./running-record.ts";
import { serveDatabase } from "./serve-database.ts";
import { FLAVOUR_NAMES, type ServerFlavour, type ServerProgram } from "./server-program.ts";
import { StackError, stackErrorFromFile } from "./stack-error.ts";

export interface StartDatabase {
  /** `DATABASE_URL` and `MYSQLD` are read from here, and PATH. */
  env: NodeJS.ProcessEnv;
  /** Everything of the database lies here; created when it is not there. */
  dataDir: string;
  /** Where fetched programs are kept; the user's cache folder unless told. */
  cacheDir?: string | undefined;
  progress: Progress;
  /** Further options of the server program; they win over ours. */
  serverOptions?: readonly string[] | undefined;
  /** Trades safety against loss of power for speed, and gives the user every right: for tests. */
  ephemeral?: boolean | undefined;
  /** The port to listen on; the last run's or any free one unless told. */
  port?: number | undefined;
  /** Lets a test move the server's clock. */
  fakeClock?: FakeClock | undefined;
}

export interface RunningDatabase {
  url: string;
  flavour: ServerFlavour | "given";
  version: string;
  /** `undefined`, like `pid`, for a database given by `DATABASE_URL`. */
  dataDir: string | undefined;
  pid: number | undefined;
  /** Resolves when the server has ended, asked or not; never for a given one. */
  ended: Promise<void>;
  /** Ends a server started here and waits for its end; leaves a given one alone. */
  stop(): Promise<void>;
}

/**
 * Finds a database or starts one: `DATABASE_URL`; else the server `MYSQLD` names, one on the
 * machine, or the distribution's, fetched. Throws {@link StackError} with one sentence for a person.
 */
export async function startDatabase(options: StartDatabase): Promise<RunningDatabase> {
  const given = readSecret(options.env, "DATABASE_URL", (text) => {
    throw new StackError(text);
  });
  if (given) return useGivenDatabase(given);
  const { env, progress, cacheDir = cacheFolder(env) } = options;
  const dataDir = resolve(options.dataDir);
  await openDataFolder(dataDir);
  const program = await findDatabaseServer(env, cacheDir, progress);
  const lock = lockDataFolder(dataDir);
  try {
    return await startInFolder({ ...options, dataDir }, program, lock);
  } catch (error) {
    lock.release();
    throw stackErrorFromFile(error, dataDir);
  }
}

async function useGivenDatabase(url: string): Promise<RunningDatabase> {
  return {
    url,
    flavour: "given",
    version: await checkGivenDatabase(url),
    dataDir: undefined,
    pid: undefined,
    ended: new Promise(() => undefined),
    stop: () => Promise.resolve(),
  };
}

function lockDataFolder(dataDir: string): FileLock {
  let lock: FileLock | undefined;
  try {
    lock = tryLock(dataFolderPaths(dataDir).lock);
  } catch (error) {
    throw stackErrorFromFile(error, dataDir);
  }
  if (lock) return lock;
  throw new StackError(
    `${dataDir} is in use by another copy of this program: stop that one, or name another data folder.`,
  );
}

async function startInFolder(
  options: StartDatabase,
  program: ServerProgram,
  lock: FileLock,
): Promise<RunningDatabase> {
  const { dataDir, progress } = options;
  await endPreviousServer(dataDir, progress);
  const marker = await openDataFolder(dataDir);
  if (marker?.state === "ready") checkDataMarker(dataDir, marker, program);
  else await createData(options, program);
  const credentials = await readCredentials(dataFolderPaths(dataDir).credentials);
  const server = await progress.step(`Starting ${FLAVOUR_NAMES[program.flavour]}`, () =>
    serveDatabase({
      program,
      credentials,
      dataDir,
      port: options.port,
      preferredPort: marker?.port,
      env: { ...options.env, ...options.fakeClock?.variables },
      serverOptions: options.serverOptions ?? [],
      isEphemeral: options.ephemeral ?? false,
    }),
  );
  const { flavour, version } = program;
  await writeMarker(dataDir, { state: "ready", flavour, version, port: server.port });
  const { user, password } = credentials;
  return {
    url: `mysql://${user}:${password}@${LOOPBACK}:${server.port}/${DATABASE_NAME}`,
    flavour,
    version,
    dataDir,
    pid: server.pid,
    ended: server.ended,
    async stop() {
      await server.stop();
      lock.release();
    },
  };
}

async function createData(
  { dataDir, progress, ephemeral = false }: StartDatabase,
  program: ServerProgram,
): Promise<void> {
  const { flavour, version } = program;
  const { data, credentials } = dataFolderPaths(dataDir);
  await writeMarker(dataDir, { state: "creating", flavour, version });
  await rm(data, { recursive: true, force: true });
  await rm(credentials, { force: true });
  await progress.step(`Creating the ${FLAVOUR_NAMES[flavour]} data folder`, () =>
    createServerData(program, data, ephemeral),
  );
  await writeMarker(dataDir, { state: "ready", flavour, version });
}
