import { join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { findProgram } from "./find-program.ts";
import { canFetchAptPackages } from "./find-server.ts";
import type { Progress } from "./progress.ts";
import { StackError } from "./stack-error.ts";
import { type Launch, launchFromRoot } from "./unpacked-root.ts";

/** Finds HAProxy, to test behind it: on the machine, or the distribution's, fetched. */
export async function findHaproxy(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<Launch> {
  const path = await findProgram(env, ["haproxy"]);
  if (path !== undefined) return { command: path, leading: [] };
  if (!(await canFetchAptPackages(env))) {
    throw new StackError("No haproxy found: install HAProxy so that its program is on PATH.");
  }
  const root = await fetchAptPackages({
    names: ["haproxy"],
    into: join(cacheDir, `haproxy-${process.arch}`),
    title: "HAProxy",
    megabytes: 150,
    progress,
  });
  return launchFromRoot(root, "usr/sbin/haproxy");
}
