import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { waitForLock } from "./file-lock.ts";
import type { Progress, ReportDetail } from "./progress.ts";
import { stackErrorFromFile } from "./stack-error.ts";

/**
 * Creates a folder with `fill` unless it exists. Returns its path. The folder appears complete or not at all, even if
 * processes are killed or several ask at once.
 */
export async function makeFolderOnce(
  folder: string,
  label: string,
  progress: Progress,
  fill: (fresh: string, report: ReportDetail) => Promise<void>,
): Promise<string> {
  if (existsSync(folder)) return folder;
  return progress.step(label, async (report) => {
    try {
      await mkdir(dirname(folder), { recursive: true });
      const lock = await waitForLock(`${folder}.lock`, () => report("waiting for another fetch"));
      try {
        if (!existsSync(folder)) await fillFresh(folder, (fresh) => fill(fresh, report));
        return folder;
      } finally {
        lock.release();
      }
    } catch (error) {
      throw stackErrorFromFile(error, `${dirname(folder)} (the cache, which XDG_CACHE_HOME names)`);
    }
  });
}

async function fillFresh(folder: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${folder}.new`;
  // Removes a folder that a killed process may have left.
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh);
  try {
    await fill(fresh);
    await rename(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
