import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";

/** A lock held by this process; the system lets go of it when the process ends, however it ends. */
export interface FileLock {
  release(): void;
}

const RETRY_MILLISECONDS = 200;

/**
 * Takes the lock kept in the file at `path`, or returns `undefined` when another holds it.
 *
 * Node has no call for file locks; an open exclusive transaction of its built-in SQLite is one,
 * on every system, and needs no clean-up after `kill -9`, as the lock files of `proper-lockfile` do.
 */
export function tryLock(path: string): FileLock | undefined {
  const database = new DatabaseSync(path);
  try {
    // Nothing is ever written, so no journal needs to lie beside the file.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return { release: () => database.isOpen && database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/.test(error.message)) return undefined;
    throw error;
  }
}

/** Takes the lock kept in the file at `path`, waiting for its holder. */
export async function waitForLock(path: string, onWait: () => void): Promise<FileLock> {
  for (;;) {
    const lock = tryLock(path);
    if (lock) return lock;
    onWait();
    await wait(RETRY_MILLISECONDS);
  }
}
