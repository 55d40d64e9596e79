import { readFile, rm, writeFile } from "node:fs/promises";
import { dataFolderPaths } from "./data-folder.ts";
import { endProcess, isRunning, readCommandLine } from "./processes.ts";
import type { Progress } from "./progress.ts";
import { dataOption } from "./server-options.ts";
import { removeSocket } from "./socket-path.ts";

/** What is remembered of a running server, for the next start after a `kill -9`. */
export interface RunningRecord {
  pid: number;
  socket: string;
}

const GRACE_MILLISECONDS = 60_000;

/** Remembers a server as running on a data folder. */
export async function recordRunning(dataDir: string, record: RunningRecord): Promise<void> {
  await writeFile(dataFolderPaths(dataDir).running, `${JSON.stringify(record)}\n`);
}

/** Forgets the server of a data folder and removes the files that only a running one needs. */
export async function forgetRunning(dataDir: string, socket: string): Promise<void> {
  const { running, pidFile, initFile } = dataFolderPaths(dataDir);
  await Promise.all([running, pidFile, initFile].map((path) => rm(path, { force: true })));
  await removeSocket(socket);
}

/**
 * Ends the server that a killed run left on a data folder. Whether the process is that server is
 * read from its command line: its number may belong to any other program by now.
 */
export async function endPreviousServer(dataDir: string, progress: Progress): Promise<void> {
  const { running, data } = dataFolderPaths(dataDir);
  const record = parseRecord(await readFile(running, "utf8").catch(() => ""));
  if (!record) return;
  const commandLine = (await isRunning(record.pid)) ? await readCommandLine(record.pid) : "";
  if (`${commandLine} `.includes(` ${dataOption(data)} `)) {
    await progress.step("Ending the database server of the last run", () =>
      endProcess(record.pid, GRACE_MILLISECONDS),
    );
  }
  await forgetRunning(dataDir, record.socket);
}

function parseRecord(text: string): RunningRecord | undefined {
  try {
    const { pid, socket }: Partial<RunningRecord> = JSON.parse(text);
    return Number.isSafeInteger(pid) && pid && socket ? { pid, socket } : undefined;
  } catch {
    return undefined;
  }
}
