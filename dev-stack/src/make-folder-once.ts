import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { waitForLock } from "./file-lock.ts";
import type { Progress, ReportDetail } from "./progress.ts";
import { stackErrorFromFile } from "./stack-error.ts";

/**
 * Has `fill` make a folder unless it is there; returns its path. The folder appears whole or not at all, whatever is
 * killed and however many processes ask at once.
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
      throw stackErrorFromFile(error, dirname(folder));
    }
  });
}

async function fillFresh(folder: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${folder}.new`;
  // What a killed process left.
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh);
  try {
    await fill(fresh);
    await rename(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
