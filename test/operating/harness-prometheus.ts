import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
import { findPrometheus } from "../../dev-stack/src/find-prometheus.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { spawnServer } from "../../dev-stack/src/server-process.ts";
import { ROOT } from "../architecture/import-rule.ts";

export const PROMETHEUS_FILES = join(ROOT, "deploy/prometheus");
const READY_WITHIN_MS = 30_000;

/** A real Prometheus with the project's own configuration, but the ports and the times. */
export type Prometheus = {
  /** Evaluates a query now; throws when it is none. Returns how many series it has. */
  query(expression: string): Promise<number>;
  stop(): Promise<void>;
};

/** Starts one that scrapes the product at a port, and Temporal's metrics at the next, each second. */
export async function startPrometheus(metricsPort: number): Promise<Prometheus> {
  const { env } = process;
  const launch = await findPrometheus("prometheus", env, cacheFolder(env), createProgress());
  const folder = await mkdtemp(join(tmpdir(), "activity-prometheus-"));
  const config = await readFile(join(PROMETHEUS_FILES, "prometheus.yaml"), "utf8");
  const ours = config
    .replaceAll("15s", "1s")
    .replace("alerts.yaml", join(PROMETHEUS_FILES, "alerts.yaml"))
    .replace("127.0.0.1:9464", `127.0.0.1:${metricsPort}`)
    .replace("127.0.0.1:9465", `127.0.0.1:${metricsPort + 1}`);
  await writeFile(join(folder, "prometheus.yaml"), ours);
  const port = await findFreePort();
  const server = await spawnServer({
    command: launch.command,
    args: [
      ...launch.leading,
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    env,
    logFile: join(folder, "prometheus.log"),
  });
  const base = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await server.kill();
    await rm(folder, { recursive: true, force: true });
  };
  const giveUpAt = performance.now() + READY_WITHIN_MS;
  while (
    !(await fetch(`${base}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (server.hasEnded() || performance.now() > giveUpAt) {
      const log = await readFile(join(folder, "prometheus.log"), "utf8");
      await stop();
      throw new Error(`Prometheus is not ready: ${log.slice(-2_000)}`);
    }
    await wait(50);
  }
  return {
    async query(expression) {
      const body = new URLSearchParams({ query: expression });
      const response = await fetch(`${base}/api/v1/query`, { method: "POST", body });
      const answer = (await response.json()) as {
        readonly error?: string;
        readonly data?: { readonly result: readonly unknown[] };
      };
      if (answer.data === undefined) throw new Error(`${expression}: ${answer.error}`);
      return answer.data.result.length;
    },
    stop,
  };
}
