import { join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { findProgram } from "./find-program.ts";
import { canFetchAptPackages } from "./find-server.ts";
import type { Progress } from "./progress.ts";
import { StackError } from "./stack-error.ts";
import { type Launch, launchFromRoot } from "./unpacked-root.ts";

/** Finds etcd, in which a Vitess cluster keeps its topology: on the machine, or the distribution's, fetched. */
export async function findEtcd(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<Launch> {
  const path = await findProgram(env, ["etcd"]);
  if (path !== undefined) return { command: path, leading: [] };
  if (!(await canFetchAptPackages(env))) {
    throw new StackError("No etcd found: install it so that its program is on PATH.");
  }
  const root = await fetchAptPackages({
    names: ["etcd-server"],
    into: join(cacheDir, `etcd-${process.arch}`),
    title: "etcd",
    megabytes: 250,
    progress,
  });
  return launchFromRoot(root, "usr/bin/etcd");
}
