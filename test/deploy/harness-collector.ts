import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { untilListening } from "../harness/listening.ts";

const SOURCES = join(ROOT, "test/deploy/collector");

/** A real OpenTelemetry Collector. */
export type Collector = { readonly endpoint: string; stop(): Promise<void> };

/**
 * Starts the collector's own core, which takes OTLP over HTTP and sends it on as JSON. Go builds it once a machine: no
 * registry has it built.
 */
export async function startCollector(to: string): Promise<Collector> {
  const port = await findFreePort();
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { otlp_http: { endpoint: to, encoding: "json" } },
    service: {
      telemetry: { metrics: { level: "none" } },
      pipelines: { traces: { receivers: ["otlp"], exporters: ["otlp_http"] } },
    },
  };
  const args = [`--config=yaml:${JSON.stringify(config)}`];
  const child = spawn(build(), args, { stdio: "ignore" });
  await untilListening(child, port);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function build(): string {
  const sums = readFileSync(join(SOURCES, "go.sum"));
  const version = createHash("sha256").update(sums).digest("hex").slice(0, 12);
  const program = join(cacheFolder(process.env), `otelcol-${version}`, "otelcol");
  if (!existsSync(program)) {
    execFileSync("go", ["build", "-o", program, "."], {
      cwd: SOURCES,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return program;
}
