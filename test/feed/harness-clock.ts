import { globSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fetchAptPackages } from "../../dev-stack/src/apt-packages.ts";
import type { StackOptions } from "../../dev-stack/src/stack-options.ts";

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

/** Fetches libfaketime and creates a clock whose offset is in `file`; it shows the true time at first. */
export async function createFakeClock(file: string, options: StackOptions): Promise<FakeClock> {
  const { folder } = await fetchAptPackages(
    {
      ...{ title: "libfaketime", names: ["libfaketime"], folder: "faketime", megabytes: 200 },
      otherwise: "this test needs one",
    },
    options,
  );
  // The variant for programs with many threads.
  const [library = ""] = globSync("usr/lib/*/faketime/libfaketimeMT.so.1", { cwd: folder });
  await writeOffset(file, 0);
  return {
    variables: {
      LD_PRELOAD: join(folder, library),
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
