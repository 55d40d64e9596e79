import { copyFile, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { isUbuntu } from "./debian.ts";
import { findOrFetch } from "./find-or-fetch.ts";
import type { Progress } from "./progress.ts";
import { launchFromRoot, shellQuote, writeLauncher } from "./unpacked-root.ts";

/** Chromium without windows: the same engine with two thirds of the processor time. */
const HEADLESS = "chromium-headless-shell";
const FOLDER = "usr/lib/chromium";

/**
 * Finds a Chromium for tests of the dashboard: the one that CHROMIUM names, one on the machine, or Debian's,
 * downloaded. Returns the path of a program that runs it without a sandbox.
 */
export async function findChromium(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<string> {
  const { command, root } = await findOrFetch(
    {
      ...{ title: "Chromium", given: { CHROMIUM: env.CHROMIUM }, folder: HEADLESS },
      called: [HEADLESS, "chromium", "google-chrome"],
      ...{ packages: [HEADLESS, "fonts-dejavu-core"], path: `${FOLDER}/${HEADLESS}` },
      // Ubuntu's package only installs Chromium from its store.
      ...{ suite: (await isUbuntu()) ? "sid" : "distribution", megabytes: 1_000 },
    },
    { env, cacheDir, progress },
  );
  if (root === undefined) return command;
  const folder = join(root.folder, FOLDER);
  // Chromium looks for its files beside the running program, which is the loader.
  const loader = join(folder, basename(root.loader));
  await copyFile(root.loader, `${loader}.${process.pid}`);
  await rename(`${loader}.${process.pid}`, loader);
  const launcher = join(folder, "launch");
  return writeLauncher(launcher, launchFromRoot(root, `${FOLDER}/${HEADLESS}`, loader), [
    `export FONTCONFIG_SYSROOT=${shellQuote(root.folder)}`,
    // A zygote restarts the running program, which is the loader, without its arguments.
    `set -- --no-zygote --browser-subprocess-path=${shellQuote(launcher)} "$@"`,
  ]);
}
