import { chmod, copyFile, link } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";
import { hasSystemCode } from "./stack-error.ts";
import type { VitessPrograms } from "./vitess-program.ts";

/** `nobody`: Vitess refuses to run as root. */
const UNPRIVILEGED = 65_534;

/** The user that Vitess's programs run as; `undefined` for the current user. */
export function vitessUser(): number | undefined {
  return process.getuid?.() === 0 ? UNPRIVILEGED : undefined;
}

/** Puts programs where the user may read them who runs them: a cache folder of root's is closed to others. */
export async function placePrograms(
  built: string,
  { names }: VitessPrograms,
  folder: string,
): Promise<void> {
  for (const name of names) {
    const [from, to] = [join(built, name), join(folder, name)];
    await link(from, to).catch((error) => {
      if (!hasSystemCode(error, "EXDEV")) throw error;
      return copyFile(from, to);
    });
    if (vitessUser() !== undefined) await chmod(to, 0o755);
  }
}

/** Makes a folder the user's who runs Vitess; before programs are placed in it, which are links to those of the cache. */
export async function giveToUser(folder: string): Promise<void> {
  const user = vitessUser();
  if (user !== undefined) await runCommand("chown", ["-R", `${user}:${user}`, folder]);
}
