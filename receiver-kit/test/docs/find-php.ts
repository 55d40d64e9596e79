import { globSync } from "node:fs";
import { fetchAptPackages } from "../../../dev-stack/src/apt-packages.ts";
import { findProgram } from "../../../dev-stack/src/find-program.ts";
import { createProgress } from "../../../dev-stack/src/progress.ts";
import { type Launch, launchFromRoot } from "../../../dev-stack/src/unpacked-root.ts";

/** Finds the `php` program: the machine's, or the distribution's, downloaded into the cache folder. */
export async function findPhp(): Promise<Launch> {
  const { env } = process;
  const installed = await findProgram(env, ["php"]);
  if (installed !== undefined) return { command: installed, leading: [] };
  const root = await fetchAptPackages(
    {
      ...{ title: "PHP", names: ["php-cli"], folder: "php", megabytes: 150 },
      otherwise: "install a php so that it is on PATH",
    },
    { env, progress: createProgress() },
  );
  // The program's name contains its version.
  const [program = "usr/bin/php"] = globSync("usr/bin/php[0-9].[0-9]", { cwd: root.folder });
  return launchFromRoot(root, program);
}
