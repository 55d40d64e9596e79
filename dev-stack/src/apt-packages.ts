import { mkdir, mkdtemp, readdir, rename, rm, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type AptSuite, createAptWorkspace, downloadPackages } from "./apt-download.ts";
import { waitForLock } from "./file-lock.ts";
import type { Progress } from "./progress.ts";
import { runCommand } from "./run-command.ts";
import { StackError, stackErrorFromFile } from "./stack-error.ts";
import { openUnpackedRoot, type UnpackedRoot } from "./unpacked-root.ts";

export interface FetchAptPackages {
  /** Packages to fetch, together with all they depend on. */
  names: readonly string[];
  /** Where they come from: what the machine's apt is set up for (the default), or Debian unstable. */
  suite?: AptSuite | undefined;
  /** The folder they are unpacked into; when it is there already, nothing is fetched. */
  into: string;
  /** What a person calls them, for example "MariaDB". */
  title: string;
  /** How much space fetching and unpacking take at most, in megabytes. */
  megabytes: number;
  progress: Progress;
}

/**
 * Fetches packages with apt-get and unpacks them into a folder, installing nothing and needing no
 * root. The folder appears whole or not at all, whatever is killed and however many ask at once.
 */
export async function fetchAptPackages(options: FetchAptPackages): Promise<UnpackedRoot> {
  const { into, title, progress } = options;
  const present = await openUnpackedRoot(into);
  if (present) return present;
  return progress.step(`Fetching ${title}`, async (report) => {
    try {
      await mkdir(dirname(into), { recursive: true });
      const lock = await waitForLock(`${into}.lock`, () => report("waiting for another fetch"));
      try {
        return (await openUnpackedRoot(into)) ?? (await fetchUnderLock(options, report));
      } finally {
        lock.release();
      }
    } catch (error) {
      throw stackErrorFromFile(error, dirname(into));
    }
  });
}

async function fetchUnderLock(
  { names, suite = "distribution", into, title, megabytes }: FetchAptPackages,
  report: (detail: string) => void,
): Promise<UnpackedRoot> {
  await removeLeftovers(into);
  await checkRoom(dirname(into), title, megabytes);
  const work = await mkdtemp(`${into}.part-`);
  try {
    const workspace = await createAptWorkspace(join(work, "apt"), suite);
    const archives = await downloadPackages(workspace, names, title, report);
    await unpackAll(archives, join(work, "root"), title, report);
    await rename(join(work, "root"), into);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const root = await openUnpackedRoot(into);
  if (root) return root;
  throw new StackError(`${title} was fetched, but its packages hold no loader for this machine.`);
}

/** Clears what a killed fetch left beside `into`, and `into` itself when it is not whole. */
async function removeLeftovers(into: string): Promise<void> {
  const names = await readdir(dirname(into));
  const leftovers = names.filter((name) => name.startsWith(`${basename(into)}.part-`));
  for (const name of [...leftovers, basename(into)]) {
    await rm(join(dirname(into), name), { recursive: true, force: true });
  }
}

/** Checked first, because apt does not always notice a full disk. */
async function checkRoom(folder: string, title: string, megabytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = Math.floor((bavail * bsize) / 1024 ** 2);
  if (free >= megabytes) return;
  throw new StackError(
    `Fetching ${title} into ${folder} takes ${megabytes} MB and its disk has ${free} MB free: free some space, or set XDG_CACHE_HOME to a folder on another disk.`,
  );
}

async function unpackAll(
  archives: readonly string[],
  folder: string,
  title: string,
  report: (detail: string) => void,
): Promise<void> {
  await mkdir(folder);
  for (const [index, archive] of archives.entries()) {
    report(`unpacking ${index + 1} of ${archives.length}`);
    const { status, lines } = await runCommand("dpkg-deb", ["-x", archive, folder]);
    await rm(archive);
    if (status === 0) continue;
    const said = lines.join(" ");
    const cause = /No space left on device/i.test(said) ? "the disk is full" : said;
    throw new StackError(
      `${title} could not be unpacked into ${dirname(folder)}: ${cause}. Free some space there, or set XDG_CACHE_HOME to another folder.`,
    );
  }
}
