import { mkdir, readdir, rm, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache-folder.ts";
import { readUnstableSource } from "./debian.ts";
import { findProgram } from "./find-program.ts";
import { makeFolderOnce } from "./make-folder-once.ts";
import type { ReportDetail } from "./progress.ts";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";
import type { StackOptions } from "./stack-options.ts";
import { openUnpackedRoot, type UnpackedRoot } from "./unpacked-root.ts";

export interface AptPackages {
  /** The name for people, such as "MariaDB". */
  title: string;
  /** The packages to download, with all their dependencies. */
  names: readonly string[];
  /** The source: the machine's own apt sources (the default), or Debian unstable. */
  suite?: "distribution" | "sid" | undefined;
  /** The folder's name in the cache. */
  folder: string;
  /** The most space that download and unpacking need. */
  megabytes: number;
  /** Advice to a person whose machine has no apt-get. */
  otherwise: string;
}

/**
 * An apt that prints nothing for this time is killed, because on a full disk it can wait for ever. The time is longer
 * than apt waits for a server.
 */
const SILENCE_MILLISECONDS = 150_000;

/** Downloads packages with apt-get and unpacks them, once per machine. Needs no root and installs nothing. */
export async function fetchAptPackages(
  packages: AptPackages,
  { env, progress }: StackOptions,
): Promise<UnpackedRoot> {
  const { title, otherwise } = packages;
  const cache = cacheFolder(env);
  const folder = join(cache, `${packages.folder}-${process.arch}`);
  await makeFolderOnce(folder, `Fetching ${title}`, progress, async (fresh, report) => {
    const tools = [await findProgram(env, ["apt-get"]), await findProgram(env, ["dpkg-deb"])];
    if (tools.includes(undefined)) {
      throw new StackError(
        `No program was found for ${title}, and no apt-get to fetch one: ${otherwise}.`,
      );
    }
    await checkRoom(cache, packages);
    const work = `${fresh}.apt`;
    try {
      await rm(work, { recursive: true, force: true });
      await unpack(await download(work, packages, report), fresh, title, report);
      openUnpackedRoot(fresh);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
  return openUnpackedRoot(folder);
}

/** Throws if the disk has too little space. apt does not always notice a full disk. */
async function checkRoom(folder: string, { title, megabytes }: AptPackages): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = Math.floor((bavail * bsize) / 1024 ** 2);
  if (free >= megabytes) return;
  throw new StackError(
    `Fetching ${title} into ${folder} takes ${megabytes} MB and its disk has ${free} MB free: free some space, or set XDG_CACHE_HOME to a folder on another disk.`,
  );
}

/** Downloads packages with apt-get, whose state stays in `folder`. Returns the paths of the archives. */
async function download(
  folder: string,
  { names, suite, title }: AptPackages,
  report: ReportDetail,
): Promise<string[]> {
  const archives = join(folder, "cache/archives");
  await mkdir(join(folder, "state/lists/partial"), { recursive: true });
  await mkdir(join(archives, "partial"), { recursive: true });
  // With an empty status file nothing counts as installed. So every library is downloaded, and later changes of the
  // machine do not matter.
  await writeFile(join(folder, "status"), "");
  const sources = suite === "sid" ? await readUnstableSource() : undefined;
  if (sources !== undefined) await writeFile(join(folder, "sources.list"), sources);
  const configFile = join(folder, "apt.conf");
  await writeFile(configFile, configText(folder, sources !== undefined));
  const apt = (...args: string[]) =>
    runCommand("apt-get", ["-c", configFile, "-q", "-o", "APT::Status-Fd=1", ...args], {
      variables: { LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" },
      silenceMilliseconds: SILENCE_MILLISECONDS,
      onLine(line) {
        const percent = /^dlstatus:\d+:([\d.]+):/.exec(line)?.[1];
        if (percent !== undefined) report(`${args[0]} ${Math.floor(Number(percent))} %`);
      },
    });
  // The update fails if one source of the machine is broken, even if the others suffice. So only the install's status
  // counts.
  const update = await apt("update");
  const install = await apt("install", "-y", "--download-only", ...names);
  if (install.status !== 0) throw cannotFetch(title, update.lines, install.lines);
  const files = (await readdir(archives)).filter((name) => name.endsWith(".deb"));
  return files.map((name) => join(archives, name));
}

function cannotFetch(
  title: string,
  update: readonly string[],
  install: readonly string[],
): StackError {
  const lines = [...update, ...install];
  if (lines.some((line) => /No space left on device|don't have enough free space/i.test(line))) {
    return new StackError(
      `${title} could not be fetched: the disk is full. Free some space, or set XDG_CACHE_HOME to a folder on another disk.`,
    );
  }
  const last =
    lines.findLast((line) => line.startsWith("E: ")) ?? lines.at(-1) ?? "it said nothing";
  // If apt has no lists, the install only says that the package is missing. So this also quotes the update, which says
  // why there are no lists.
  const isLacking = /^E: (?:Unable to locate|.*no installation candidate)/.test(last);
  const first = isLacking && update.find((line) => /^(?:E: |W: Failed to fetch )/.test(line));
  const causes = first ? [first, last] : [last];
  return new StackError(
    `${title} could not be fetched with apt-get (${causes.map((line) => line.replace(/^[EW]: /, "")).join("; ")}): check the network and the machine's apt sources, then start again.`,
  );
}

async function unpack(
  archives: readonly string[],
  folder: string,
  title: string,
  report: ReportDetail,
): Promise<void> {
  for (const [index, archive] of archives.entries()) {
    report(`unpacking ${index + 1} of ${archives.length}`);
    const { status, lines } = await runCommand("dpkg-deb", ["-x", archive, folder]);
    await rm(archive);
    if (status === 0) continue;
    throw new StackError(
      `${title} could not be unpacked into ${dirname(folder)}: ${lines.join(" ")}. Free some space there, or set XDG_CACHE_HOME to another folder.`,
    );
  }
}

function configText(folder: string, hasOwnSources: boolean): string {
  const noneElse = ["sourceparts", "preferences", "preferencesparts"].map(
    (name) => `Dir::Etc::${name} "/dev/null";`,
  );
  return [
    // Removes the hooks of the machine's own apt, which must not run here.
    ...["Pre-Invoke", "Post-Invoke", "Post-Invoke-Success"].map(
      (at) => `#clear APT::Update::${at};`,
    ),
    ...["#clear DPkg::Post-Invoke;", "#clear DPkg::Pre-Install-Pkgs;"],
    "#clear APT::Default-Release;",
    `Dir::State "${folder}/state";`,
    `Dir::State::status "${folder}/status";`,
    `Dir::Cache "${folder}/cache";`,
    `Dir::Log "${folder}";`,
    "APT::Install-Recommends false;",
    'APT::Sandbox::User "";',
    "Acquire::Languages none;",
    "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled false;",
    "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled false;",
    "Acquire::Retries 3;",
    "Debug::NoLocking true;",
    ...(hasOwnSources ? [`Dir::Etc::sourcelist "${folder}/sources.list";`, ...noneElse] : []),
    "",
  ].join("\n");
}
