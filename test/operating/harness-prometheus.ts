import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findOrFetch } from "../../dev-stack/src/find-or-fetch.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startServer } from "../../dev-stack/src/server-process.ts";
import type { Launch } from "../../dev-stack/src/unpacked-root.ts";
import { namesIn, ROOT, readText } from "../architecture/import-rule.ts";

export const PROMETHEUS_FILES = join(ROOT, "deploy/prometheus");

/** The names of the alerts in `alerts.yaml`. */
export const ALERTS = namesIn(readText("deploy/prometheus/alerts.yaml"), /- alert: (\w+)/g);

/** Finds the machine's `prometheus` or `promtool`, or downloads the distribution's. */
export function findPrometheus(program: "prometheus" | "promtool"): Promise<Launch> {
  return findOrFetch(
    {
      ...{ title: "Prometheus", called: [program], packages: ["prometheus"], megabytes: 700 },
      ...{ folder: "prometheus", path: `usr/bin/${program}` },
    },
    { env: process.env, progress: createProgress() },
  );
}

/**
 * Starts a real Prometheus with the project's configuration, and its files in `folder`. It scrapes each second: the
 * product at a port and Temporal at the next one.
 */
export async function startPrometheus(folder: string, metricsPort: number) {
  const ours = readText("deploy/prometheus/prometheus.yaml")
    .replaceAll("15s", "1s")
    .replace("alerts.yaml", join(PROMETHEUS_FILES, "alerts.yaml"))
    .replace("127.0.0.1:9464", `127.0.0.1:${metricsPort}`)
    .replace("127.0.0.1:9465", `127.0.0.1:${metricsPort + 1}`);
  await writeFile(join(folder, "prometheus.yaml"), ours);
  const port = await findFreePort();
  const base = `http://127.0.0.1:${port}`;
  const server = await startServer({
    ...{ title: "Prometheus", launch: await findPrometheus("prometheus"), env: process.env },
    args: [
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    logFile: join(folder, "prometheus.log"),
    isReady: () =>
      fetch(`${base}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
  return {
    /** Evaluates a query now. Returns the number of series; throws if the query is invalid. */
    async query(expression: string) {
      const body = new URLSearchParams({ query: expression });
      const response = await fetch(`${base}/api/v1/query`, { method: "POST", body });
      const answer = (await response.json()) as {
        readonly error?: string;
        readonly data?: { readonly result: readonly unknown[] };
      };
      if (answer.data === undefined) throw new Error(`${expression}: ${answer.error}`);
      return answer.data.result.length;
    },
    stop: () => server.kill(),
  };
}
