import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findOrFetch } from "../../dev-stack/src/find-or-fetch.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { ROOT } from "../architecture/import-rule.ts";

export const PROMETHEUS_FILES = join(ROOT, "deploy/prometheus");

/**
 * Runs `promtool`, the machine's or the distribution's, fetched, in the folder of Prometheus' files. Returns what it says,
 * whether or not it fails.
 */
export async function promtool(...args: string[]): Promise<string> {
  const launch = await findOrFetch(
    {
      ...{ title: "Prometheus", called: ["promtool"], packages: ["prometheus"], megabytes: 700 },
      ...{ folder: "prometheus", path: "usr/bin/promtool" },
    },
    { env: process.env, progress: createProgress() },
  );
  const run = promisify(execFile)(launch.command, [...launch.leading, ...args], {
    cwd: PROMETHEUS_FILES,
  });
  const { stdout, stderr } = await run.catch(
    (failed: { stdout: string; stderr: string }) => failed,
  );
  return stdout + stderr;
}
