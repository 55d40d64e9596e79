import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { FeedError } from "../feed-error.ts";
import type { Checkpoint } from "./checkpoint.ts";

/**
 * Keeps the position in a file. Only one follower may use a file at a time. A crash or a power cut leaves either the
 * old or the new content. Loading rejects with `invalid_checkpoint` if the file holds something else. Loading and
 * saving reject with the error of `node:fs` if the file cannot be read or written.
 */
export function file(path: string): Checkpoint {
  return {
    async load() {
      const text = await readIfThere(path);
      if (text === undefined) return undefined;
      try {
        return JSON.parse(text);
      } catch (cause) {
        const message = `${path} holds no checkpoint: name another file, or delete it to start again.`;
        throw new FeedError("invalid_checkpoint", message, { cause });
      }
    },
    async save(state) {
      const fresh = `${path}.new`;
      await writeDurably(fresh, `${JSON.stringify(state)}\n`);
      await rename(fresh, path);
      await syncFolder(dirname(path));
    },
  };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const opened = await open(path, "w", 0o600);
  try {
    await opened.writeFile(text);
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** Makes the rename durable, if the system can. Windows cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
