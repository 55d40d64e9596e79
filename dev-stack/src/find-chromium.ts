import { copyFile, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { isUbuntu } from "./debian.ts";
import { findInstalled } from "./find-program.ts";
import { StackError } from "./stack-error.ts";
import type { StackOptions } from "./stack-options.ts";
import { launchFromRoot, shellQuote, writeLauncher } from "./unpacked-root.ts";

/** Chromium without windows: the same engine with two thirds of the processor time. */
const HEADLESS = "chromium-headless-shell";
const FOLDER = "usr/lib/chromium";
const OTHERWISE =
  "install google-chrome so that it is on PATH, or set CHROMIUM to the path of a Chrome or Chromium";

/**
 * Finds a Chromium for tests of the dashboard: the one that CHROMIUM names, one on the machine, or Debian's,
 * downloaded. Returns the program's path. The downloaded one runs only with `--no-sandbox`, which Playwright passes.
 */
export async function findChromium(
  { env, progress }: StackOptions,
  osRelease?: string,
): Promise<string> {
  const called = [HEADLESS, "chromium", "google-chrome"];
  const installed = await findInstalled(env, { CHROMIUM: env.CHROMIUM }, called);
  if (installed !== undefined) return installed;
  // Ubuntu's package holds no Chromium: it only installs one from Ubuntu's store.
  if (await isUbuntu(osRelease)) {
    throw new StackError(`Ubuntu has no package of Chromium to fetch: ${OTHERWISE}.`);
  }
  const packages = {
    ...{ title: "Chromium", names: [HEADLESS, "fonts-dejavu-core"], folder: HEADLESS },
    ...{ megabytes: 1_000, otherwise: OTHERWISE },
  };
  const root = await fetchAptPackages(packages, { env, progress });
  const folder = join(root.folder, FOLDER);
  // Chromium looks for its files beside the running program. The running program is the loader, so this copies the
  // loader there.
  const loader = join(folder, basename(root.loader));
  await copyFile(root.loader, `${loader}.${process.pid}`);
  await rename(`${loader}.${process.pid}`, loader);
  const launcher = join(folder, "launch");
  return writeLauncher(launcher, launchFromRoot(root, `${FOLDER}/${HEADLESS}`, loader), [
    `export FONTCONFIG_SYSROOT=${shellQuote(root.folder)}`,
    // Starts no zygote, because it would restart the running program, which is the loader, without its arguments.
    `set -- --no-zygote --browser-subprocess-path=${shellQuote(launcher)} "$@"`,
  ]);
}
