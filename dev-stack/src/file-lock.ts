import { accessSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";

/** A lock that this process holds. The system releases it when the process ends in any way. */
export interface FileLock {
  release(): void;
}

const RETRY_MILLISECONDS = 200;

/**
 * Takes the lock of the file at `path`. Returns `undefined` if another process holds it.
 *
 * Node has no file locks. An exclusive transaction of its built-in SQLite works as one on every system. Unlike the
 * lock files of `proper-lockfile`, it needs no clean-up after `kill -9`.
 */
export function tryLock(path: string): FileLock | undefined {
  const database = openDatabase(path);
  try {
    // The transaction writes nothing, so it needs no journal file.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return { release: () => database.isOpen && database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/.test(error.message)) return undefined;
    throw error;
  }
}

function openDatabase(path: string): DatabaseSync {
  // Refuses a file that this process may only read. SQLite would open it too, and several processes would get the lock.
  if (existsSync(path)) accessSync(path, constants.W_OK);
  try {
    return new DatabaseSync(path);
  } catch (error) {
    // SQLite hides the system's error. This second opening throws it. It must not run while this process holds the
    // lock: when a process closes a file, the system ends all locks that the process has on that file.
    closeSync(openSync(path, "a"));
    throw error;
  }
}

/** Takes the lock of the file at `path`. Waits while another process holds it. */
export async function waitForLock(path: string, onWait: () => void): Promise<FileLock> {
  for (;;) {
    const lock = tryLock(path);
    if (lock) return lock;
    onWait();
    await wait(RETRY_MILLISECONDS);
  }
}
