import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type FileLock, tryLock } from "./file-lock.ts";
import { findFreePort, isPortFree } from "./free-port.ts";
import { parseObject } from "./parse-object.ts";
import { endProcess, isRunning, readCommandLine } from "./processes.ts";
import type { Progress } from "./progress.ts";
import { type RunningServer, type StartServer, startServer } from "./server-process.ts";
import { StackError, stackErrorFromFile } from "./stack-error.ts";

/** The options of a server whose folder stays. */
export interface FolderOptions {
  /** The folder of everything that belongs to the server. Created if it is missing. */
  dataDir: string;
  /** The port to listen on. Default: the last run's port, else any free port. */
  port?: number | undefined;
}

interface StartInFolder extends FolderOptions {
  title: string;
  /** A word that only the command line of this folder's server has. */
  mark: string;
  progress: Progress;
  /** Prepares the folder while this process holds its lock. Returns the options to start the server with. */
  prepare(): Promise<(port: number) => Omit<StartServer, "title" | "logFile" | "remember">>;
}

type FolderServer = RunningServer & { port: number };

/** A server that was started here, or one that a variable gives. */
export type StartedOrGiven = Omit<RunningServer, "pid" | "hasEnded"> & { pid: number | undefined };

/** The properties of every given server. Its end is not known here, and `stop` and `kill` do nothing. */
export const GIVEN: StartedOrGiven = {
  ...{ pid: undefined, ended: new Promise(() => undefined) },
  ...{ stop: () => Promise.resolve(), kill: () => Promise.resolve() },
};

const GRACE_SECONDS = 60;
const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
const PORT_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 50;

/** Starts a server on a folder that no other process uses. First ends the server that a killed run left there. */
export async function startInFolder(options: StartInFolder): Promise<FolderServer> {
  const { title, dataDir, progress } = options;
  const logFile = join(dataDir, "server.log");
  const lock = await lockFolder(dataDir);
  try {
    const lastPort = await endPreviousServer(options);
    const optionsOn = await options.prepare();
    const start = async (port: number): Promise<FolderServer> => {
      const remember = (pid: number) => writeFile(recordIn(dataDir), JSON.stringify({ pid, port }));
      const server = await startServer({ ...optionsOn(port), title, logFile, remember });
      return { ...server, port };
    };
    const wanted = await choosePort(options, lastPort);
    await rotateLog(logFile);
    const server = await progress.step(`Starting ${title}`, () =>
      start(wanted).catch(async (error) => {
        // Another program may have taken the free port before this server did. If so, this takes another one.
        if (options.port !== undefined || (await isPortFree(wanted))) throw error;
        return start(await findFreePort());
      }),
    );
    const end = (how: () => Promise<void>) => () => how().finally(() => lock.release());
    return { ...server, stop: end(server.stop), kill: end(server.kill) };
  } catch (error) {
    lock.release();
    throw stackErrorFromFile(error, dataDir);
  }
}

/**
 * The file with the server's process id and port. After a `kill -9` of this program, its next start finds the server by
 * this file.
 */
const recordIn = (dataDir: string) => join(dataDir, "running.json");

async function lockFolder(dataDir: string): Promise<FileLock> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const lock = tryLock(join(dataDir, "lock"));
    if (lock) return lock;
  } catch (error) {
    throw stackErrorFromFile(error, dataDir);
  }
  throw new StackError(
    `${dataDir} is in use by another copy of this program: stop that one, or name another data folder with DATA_DIR.`,
  );
}

/**
 * Ends the server that a killed run left. Checks its command line first, because another program may have the process
 * id by now. Returns the last run's port, if any.
 */
async function endPreviousServer({ dataDir, title, mark, progress }: StartInFolder) {
  const text = await readFile(recordIn(dataDir), "utf8").catch(() => "{}");
  const { pid, port } = parseObject<{ pid: number; port: number }>(text);
  if (pid === undefined || !(await isRunning(pid))) return port;
  if (`${await readCommandLine(pid)} `.includes(` ${mark} `)) {
    await progress.step(`Ending the ${title} of the last run`, () =>
      endProcess(pid, GRACE_SECONDS),
    );
  }
  return port;
}

/**
 * Returns the port of the options. Throws if that port stays taken. By default returns the last run's port, so that
 * clients can reconnect, or else a free one. Waits up to five seconds for a taken port, because half-open connections
 * of a killed run may hold it.
 */
async function choosePort({ port, title }: StartInFolder, last?: number): Promise<number> {
  const wanted = port ?? last;
  const deadline = performance.now() + PORT_MILLISECONDS;
  while (wanted !== undefined && performance.now() < deadline) {
    if (await isPortFree(wanted)) return wanted;
    await wait(POLL_MILLISECONDS);
  }
  if (port === undefined) return findFreePort();
  throw new StackError(
    `Port ${port}, wanted for ${title}, is taken: stop the program that listens on it, or choose another port.`,
  );
}

async function rotateLog(log: string): Promise<void> {
  const size = (await stat(log).catch(() => undefined))?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) await rename(log, `${log}.1`);
}
