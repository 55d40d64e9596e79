import { access, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fetchAptPackages } from "./apt-packages.ts";
import type { Progress } from "./progress.ts";
import { StackError } from "./stack-error.ts";
import type { UnpackedRoot } from "./unpacked-root.ts";

/** The file is read again at the next change of second. */
const FOLLOW_MILLISECONDS = 1100;

/** A clock that tests move while a server runs by it. */
export interface FakeClock {
  /** Environment variables under which a server follows the clock. */
  variables: Readonly<Record<string, string>>;
  /**
   * Sets how far the clock is ahead of the true time; negative means behind. Resolves when running
   * servers follow, a good second later.
   */
  setOffset(seconds: number): Promise<void>;
}

export interface CreateFakeClock {
  cacheDir: string;
  /** The file that holds the offset; written at once, with no offset. */
  file: string;
  progress: Progress;
}

/** Fetches libfaketime from the distribution and creates a clock that shows the true time at first. */
export async function createFakeClock({
  cacheDir,
  file,
  progress,
}: CreateFakeClock): Promise<FakeClock> {
  const root = await fetchAptPackages({
    names: ["libfaketime"],
    into: join(cacheDir, `faketime-${process.arch}`),
    title: "libfaketime",
    megabytes: 200,
    progress,
  });
  await writeOffset(file, 0);
  return {
    variables: {
      LD_PRELOAD: await findLibrary(root),
      FAKETIME_TIMESTAMP_FILE: file,
      // Read anew each second. Read at each look at the clock, it makes MySQL 20 times slower.
      FAKETIME_CACHE_DURATION: "0",
      // Waits and timeouts are measured by the monotonic clock, which no step ever touches.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
    async setOffset(seconds) {
      await writeOffset(file, seconds);
      await wait(FOLLOW_MILLISECONDS);
    },
  };
}

/** A server may read the file at any moment, so it must always be whole. */
async function writeOffset(file: string, seconds: number): Promise<void> {
  await writeFile(`${file}.new`, `${seconds < 0 ? "" : "+"}${seconds}s\n`);
  await rename(`${file}.new`, file);
}

/** Returns the variant for programs with many threads. */
async function findLibrary(root: UnpackedRoot): Promise<string> {
  for (const folder of root.libraryFolders) {
    const path = join(folder, "faketime/libfaketimeMT.so.1");
    if (await isReadable(path)) return path;
  }
  throw new StackError(`libfaketime is not in ${root.folder}: remove that folder and start again.`);
}

function isReadable(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
