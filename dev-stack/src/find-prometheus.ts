import { join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { findProgram } from "./find-program.ts";
import { canFetchAptPackages } from "./find-server.ts";
import type { Progress } from "./progress.ts";
import { StackError } from "./stack-error.ts";
import { type Launch, launchFromRoot } from "./unpacked-root.ts";

/** Finds `prometheus`, or the `promtool` that comes with it, to test with: on the machine, or the distribution's, fetched. */
export async function findPrometheus(
  program: "prometheus" | "promtool",
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<Launch> {
  const path = await findProgram(env, [program]);
  if (path !== undefined) return { command: path, leading: [] };
  if (!(await canFetchAptPackages(env))) {
    throw new StackError(
      `No ${program} found: install Prometheus so that its programs are on PATH.`,
    );
  }
  const root = await fetchAptPackages({
    names: ["prometheus"],
    into: join(cacheDir, `prometheus-${process.arch}`),
    title: "Prometheus",
    megabytes: 700,
    progress,
  });
  return launchFromRoot(root, `usr/bin/${program}`);
}
