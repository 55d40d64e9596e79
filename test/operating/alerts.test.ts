import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { namesIn, readText } from "../architecture/import-rule.ts";
import { useFolder } from "../harness/use-started.ts";
import { ALERTS, findPrometheus, PROMETHEUS_FILES } from "./harness-prometheus.ts";

const folder = useFolder("promtool");
const at = (file: string) => join(PROMETHEUS_FILES, file);
const read = (file: string) => readText(`deploy/prometheus/${file}`);

/** Runs promtool. Returns its output, also if it fails. */
async function promtool(...args: string[]): Promise<string> {
  const launch = await findPrometheus("promtool");
  const { lines } = await runCommand(launch.command, [...launch.leading, ...args]);
  return lines.join("\n");
}

it("the alert rules distinguish silence from health: promtool runs deploy/prometheus/alerts.test.yaml", async () => {
  expect(await promtool("test", "rules", at("alerts.test.yaml"))).toContain("SUCCESS");
});

it.each(["prometheus.yaml", "compose.yaml"])("Prometheus accepts %s", async (file) => {
  const said = await promtool("check", "config", at(file));
  expect(said).toContain("SUCCESS");
  expect(said).not.toContain("FAILED");
});

it("Prometheus accepts kubernetes.yaml, except the discovery of pods, which Debian's build leaves out", async () => {
  const config = read("kubernetes.yaml");
  const file = join(folder, "kubernetes.yaml");
  const known = config
    .replaceAll(/kubernetes_sd_configs: .*/g, "static_configs: [{ targets: [a:1] }]")
    .replace("alerts.yaml\nscrape", `${at("alerts.yaml")}\nscrape`);
  writeFileSync(file, known);
  const said = await promtool("check", "config", file);
  expect(said).toContain("SUCCESS: 1 rule files found");
  expect(said).not.toContain("FAILED");
  expect(namesIn(config, /job_name: (\S+)/g)).toEqual(["activity", "activity-temporal"]);
});

it("kubernetes.yaml scrapes one namespace, because the rules count all targets as one installation", () => {
  const jobs: { kubernetes_sd_configs: unknown }[] = parse(read("kubernetes.yaml")).scrape_configs;
  const pods = [{ role: "pod", namespaces: { names: ["activity"] } }];
  expect(jobs.map((job) => job.kubernetes_sd_configs)).toEqual([pods, pods]);
});

it("each alert fires in a case of its own", () => {
  const cases = namesIn(read("alerts.test.yaml"), /alertname="(\w+)"/g);
  expect(new Set(cases)).toEqual(new Set(ALERTS));
});
