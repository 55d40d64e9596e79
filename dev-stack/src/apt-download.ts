import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readUnstableSource } from "./debian-sources.ts";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";

/** Longer than apt waits for a server; on a full disk it can wait for ever. */
const SILENCE_MILLISECONDS = 150_000;

/** Which packages apt sees: those the machine is set up for, or Debian unstable's. */
export type AptSuite = "distribution" | "sid";

/** A folder in which apt-get works on its own, without touching the machine's state. */
export interface AptWorkspace {
  folder: string;
  configFile: string;
}

/** Creates a workspace: own lists, own archives, and a package database that says nothing is installed. */
export async function createAptWorkspace(folder: string, suite: AptSuite): Promise<AptWorkspace> {
  await mkdir(join(folder, "state/lists/partial"), { recursive: true });
  await mkdir(join(folder, "cache/archives/partial"), { recursive: true });
  // Nothing counts as installed, so every library is fetched and the machine's may change later.
  await writeFile(join(folder, "status"), "");
  const sources = join(folder, "sources.list");
  if (suite === "sid") await writeFile(sources, await readUnstableSource());
  const configFile = join(folder, "apt.conf");
  await writeFile(configFile, configText(folder, suite === "sid" ? sources : undefined));
  return { folder, configFile };
}

/** Downloads packages with all they depend on and returns the paths of the archives. */
export async function downloadPackages(
  { folder, configFile }: AptWorkspace,
  names: readonly string[],
  title: string,
  report: (detail: string) => void,
): Promise<string[]> {
  const apt = (...args: string[]) =>
    runCommand("apt-get", ["-c", configFile, "-q", "-o", "APT::Status-Fd=3", ...args], {
      variables: { LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" },
      silenceMilliseconds: SILENCE_MILLISECONDS,
      onStatusLine: (line) => {
        const percent = /^dlstatus:\d+:([\d.]+):/.exec(line)?.[1];
        if (percent !== undefined) report(`${args[0]} ${Math.floor(Number(percent))} %`);
      },
    });
  // One broken source of the machine fails the update although the others are enough.
  const update = await apt("update");
  const install = await apt("install", "-y", "--download-only", ...names);
  if (install.status !== 0) {
    throw new StackError(downloadFailure(title, [...update.lines, ...install.lines]));
  }
  const archives = join(folder, "cache/archives");
  const files = (await readdir(archives)).filter((name) => name.endsWith(".deb"));
  return files.toSorted().map((name) => join(archives, name));
}

function downloadFailure(title: string, lines: readonly string[]): string {
  const said = lines.join("\n");
  if (/No space left on device|don't have enough free space/i.test(said)) {
    return `${title} could not be fetched: the disk is full. Free some space, or set XDG_CACHE_HOME to a folder on another disk.`;
  }
  const errors = lines.filter((line) => line.startsWith("E: "));
  const cause = errors.at(-1)?.slice("E: ".length) ?? lines.at(-1) ?? "it said nothing";
  return `${title} could not be fetched with apt-get (${cause}): check the network and the machine's apt sources, then start again.`;
}

function configText(folder: string, sources: string | undefined): string {
  return [
    // What the machine hooks to its own apt has no place here.
    "#clear APT::Update::Pre-Invoke;",
    "#clear APT::Update::Post-Invoke;",
    "#clear APT::Update::Post-Invoke-Success;",
    "#clear DPkg::Post-Invoke;",
    "#clear DPkg::Pre-Install-Pkgs;",
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
    ...(sources === undefined ? [] : onlySource(sources)),
    "",
  ].join("\n");
}

function onlySource(file: string): string[] {
  return [
    `Dir::Etc::sourcelist "${file}";`,
    'Dir::Etc::sourceparts "/dev/null";',
    'Dir::Etc::preferences "/dev/null";',
    'Dir::Etc::preferencesparts "/dev/null";',
  ];
}
