import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { useFolder } from "../harness/use-started.ts";
import { ALERTS, findPrometheus, PROMETHEUS_FILES } from "./harness-prometheus.ts";

const folder = useFolder("promtool");
const read = (file: string) => readFileSync(join(PROMETHEUS_FILES, file), "utf8");

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

it("the alert rules distinguish silence from health: promtool runs deploy/prometheus/alerts.test.yaml", async () => {
  expect(await promtool("test", "rules", "alerts.test.yaml")).toContain("SUCCESS");
});

it.each(["prometheus.yaml", "compose.yaml"])("Prometheus accepts %s", async (file) => {
  const said = await promtool("check", "config", file);
  expect(said).toContain("SUCCESS");
  expect(said).not.toContain("FAILED");
});

it("Prometheus accepts kubernetes.yaml, except the discovery of pods, which Debian's build leaves out", async () => {
  const config = read("kubernetes.yaml");
  const file = join(folder, "kubernetes.yaml");
  const known = config
    .replaceAll("kubernetes_sd_configs: [{ role: pod }]", "static_configs: [{ targets: [a:1] }]")
    .replace("alerts.yaml\nscrape", `${join(PROMETHEUS_FILES, "alerts.yaml")}\nscrape`);
  writeFileSync(file, known);
  const said = await promtool("check", "config", file);
  expect(said).toContain("SUCCESS: 1 rule files found");
  expect(said).not.toContain("FAILED");
  const jobs = [...config.matchAll(/job_name: (\S+)/g)].map(([, name]) => name);
  expect(jobs).toEqual(["activity", "activity-temporal"]);
});

it("each alert fires in a case of its own", () => {
  const cases = read("alerts.test.yaml").matchAll(/alertname="(\w+)"/g);
  expect(new Set(Array.from(cases, ([, name]) => name))).toEqual(new Set(ALERTS));
});
