import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { findPrometheus, PROMETHEUS_FILES } from "./harness-prometheus.ts";

/** Runs promtool in the folder of Prometheus' files. Returns its output, also if it fails. */
async function promtool(...args: string[]): Promise<string> {
  const launch = await findPrometheus("promtool");
  const run = promisify(execFile)(launch.command, [...launch.leading, ...args], {
    cwd: PROMETHEUS_FILES,
  });
  const { stdout, stderr } = await run.catch(
    (failed: { stdout: string; stderr: string }) => failed,
  );
  return stdout + stderr;
}

it("the alert rules tell silence from health: promtool runs deploy/prometheus/alerts.test.yaml", async () => {
  expect(await promtool("test", "rules", "alerts.test.yaml")).toContain("SUCCESS");
});

it.each(["prometheus.yaml", "compose.yaml"])("Prometheus takes %s", async (file) => {
  const said = await promtool("check", "config", file);
  expect(said).toContain("SUCCESS");
  expect(said).not.toContain("FAILED");
});

it("Prometheus takes kubernetes.yaml, but for the way to the pods, which Debian's build leaves out", async () => {
  const config = readFileSync(join(PROMETHEUS_FILES, "kubernetes.yaml"), "utf8");
  const folder = mkdtempSync(join(tmpdir(), "activity-promtool-"));
  const file = join(folder, "kubernetes.yaml");
  const known = config
    .replaceAll("kubernetes_sd_configs: [{ role: pod }]", "static_configs: [{ targets: [a:1] }]")
    .replace("alerts.yaml\nscrape", `${join(PROMETHEUS_FILES, "alerts.yaml")}\nscrape`);
  writeFileSync(file, known);
  const said = await promtool("check", "config", file);
  rmSync(folder, { recursive: true });
  expect(said).toContain("SUCCESS: 1 rule files found");
  expect(said).not.toContain("FAILED");
  const jobs = [...config.matchAll(/job_name: (\S+)/g)].map(([, name]) => name);
  expect(jobs).toEqual(["activity", "activity-temporal"]);
});

it("each alert fires in a case of its own", () => {
  const read = (file: string) => readFileSync(join(PROMETHEUS_FILES, file), "utf8");
  const alerts = [...read("alerts.yaml").matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const firing = [...read("alerts.test.yaml").matchAll(/alertname="(\w+)"/g)].map(
    ([, name]) => name,
  );
  expect(new Set(firing)).toEqual(new Set(alerts));
});
