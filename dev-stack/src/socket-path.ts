import { mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Systems allow 104 to 108 bytes for a socket's path, and servers put ".lock" behind it. */
const LONGEST_PATH_BYTES = 95;
const NAME_IN_SHORT_FOLDER = "s";

/** Returns a path for a server's socket: in its data folder, or in a new short one. */
export async function createSocketPath(dataDir: string): Promise<string> {
  const path = join(dataDir, "server.sock");
  if (Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return path;
  return join(await mkdtemp(join(tmpdir(), "personal-activity-")), NAME_IN_SHORT_FOLDER);
}

/** Removes a socket, and the folder that was made for it alone. */
export async function removeSocket(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(`${path}.lock`, { force: true });
  if (basename(path) === NAME_IN_SHORT_FOLDER) await rmdir(dirname(path)).catch(() => undefined);
}
