import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { FeedError } from "../feed-error.ts";
import { sleep } from "../sleep.ts";
import type { Checkpoint } from "./checkpoint.ts";

const HELD = new Set(["EPERM", "EACCES", "EBUSY"]);
/** How long another program may hold the file, and the pause between two tries. */
const [HELD_MS, HELD_AGAIN_MS] = [2_000, 50];

/**
 * Keeps the position in a file. Only one follower may use a file at a time. A crash or a power cut leaves either the
 * old or the new content. Loading rejects with `invalid_checkpoint` if the file holds no JSON. Loading and saving
 * reject with the error of `node:fs` if the file cannot be read or written.
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
      await renameOver(fresh, path);
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

/**
 * Renames a file. Tries again for two seconds, because on Windows another program, such as a virus scanner, may hold
 * it.
 */
async function renameOver(from: string, to: string): Promise<void> {
  const untilMs = performance.now() + HELD_MS;
  for (;;) {
    try {
      return await rename(from, to);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (!HELD.has(code) || performance.now() > untilMs) throw error;
      await sleep(HELD_AGAIN_MS, undefined);
    }
  }
}

/** Makes the rename durable, if the system can. Windows cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
