import { chmod, copyFile, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { readOsRelease } from "./debian-sources.ts";
import { findNamedProgram, findProgram } from "./find-program.ts";
import { canFetchAptPackages } from "./find-server.ts";
import type { Progress } from "./progress.ts";
import { StackError } from "./stack-error.ts";
import type { UnpackedRoot } from "./unpacked-root.ts";

const FOLDER = "usr/lib/chromium";
/** Chromium without its windows: the same engine with two thirds of the processor time. */
const HEADLESS = "chromium-headless-shell";

/**
 * Finds a Chromium to test the dashboard with: named by CHROMIUM, on the machine, or Debian's, fetched. Returns the path of
 * a program that runs it, without a sandbox.
 */
export async function findChromium(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<string> {
  const named = env.CHROMIUM;
  const path = named
    ? await findNamedProgram(env, named)
    : await findProgram(env, [HEADLESS, "chromium", "google-chrome"]);
  if (path !== undefined) return path;
  if (named) {
    throw new StackError(
      `CHROMIUM names ${named}, which is not a program: set it to the path of a Chromium or Chrome, or unset it.`,
    );
  }
  if (!(await canFetchAptPackages(env))) {
    throw new StackError(
      "No Chromium found: set CHROMIUM to the path of a Chromium or Chrome, or install one so that it is on PATH.",
    );
  }
  // Ubuntu's package is an order to its store.
  const isUbuntu = (await readOsRelease()).get("ID") === "ubuntu";
  const root = await fetchAptPackages({
    names: [HEADLESS, "fonts-dejavu-core"],
    suite: isUbuntu ? "sid" : "distribution",
    into: join(cacheDir, `${HEADLESS}-${process.arch}`),
    title: "Chromium",
    megabytes: 1_000,
    progress,
  });
  return writeLauncher(root);
}

/** Writes a shell script that runs Chromium with the root's own loader, libraries and fonts. */
async function writeLauncher(root: UnpackedRoot): Promise<string> {
  const folder = join(root.folder, FOLDER);
  // It looks for its files beside the program that runs, which is the loader.
  const loader = join(folder, basename(root.loader));
  const launcher = join(folder, "launch");
  const fresh = `${launcher}.${process.pid}`;
  const script = [
    "#!/bin/sh",
    `export FONTCONFIG_SYSROOT=${shellQuote(root.folder)}`,
    // A zygote is the running program once more, which is the loader, without its arguments.
    `set -- --no-zygote --browser-subprocess-path=${shellQuote(launcher)} "$@"`,
    `exec ${[loader, "--inhibit-cache", "--library-path", root.libraryFolders.join(":"), join(folder, HEADLESS)].map(shellQuote).join(" ")} "$@"`,
    "",
  ].join("\n");
  await copyFile(root.loader, `${loader}.${process.pid}`);
  await chmod(`${loader}.${process.pid}`, 0o755);
  await rename(`${loader}.${process.pid}`, loader);
  await writeFile(fresh, script);
  await chmod(fresh, 0o755);
  await rename(fresh, launcher);
  return launcher;
}

function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
