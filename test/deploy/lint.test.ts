import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { documentedVariables } from "../architecture/documented-variables.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { useFolder } from "../harness/use-started.ts";
import { fetchLinters, type Linters } from "./harness-linters.ts";

const FETCH_WITHIN_MS = 600_000;
const CHART = "deploy/helm/personal-activity";
const MUST = ["--set", "temporal.address=temporal:7233"];
const PLAIN = [...MUST, "--set", "core.plaintext=trusted-network"];
const EVERYTHING = [
  ...[...MUST, "--set", "core.tlsSecret=core-tls", "--set", "limiter.enabled=true"],
  ...["--set", "dashboard.url=https://dash.example.com", "--set", "temporal.apiKey=true"],
  ...["--set", "metrics.enabled=true", "--set", "traces.endpoint=http://collector:4318"],
  ...["--set", "metrics.scrapers[0].namespaceSelector.matchLabels.a=b"],
];

type Container = {
  readonly env?: { readonly name: string; readonly value?: string }[];
  readonly ports?: { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: unknown;
  readonly livenessProbe?: unknown;
  readonly readinessProbe?: unknown;
};
type Ingress = { readonly ports?: { readonly port: string }[]; readonly from?: unknown };
type Resource = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template?: { readonly spec: { readonly containers: Container[] } };
    readonly ingress?: readonly Ingress[];
  };
};

const folder = useFolder("lint");
let linters: Linters;
beforeAll(() => {
  linters = fetchLinters();
}, FETCH_WITHIN_MS);

it("the Containerfile is as hadolint wants it", () => {
  expect(linters.hadolint("Containerfile")).toEqual({ status: 0, output: "" });
});

describe("compose.yaml", () => {
  const file = "deploy/compose.yaml";

  it("is what the Compose specification allows", () => {
    expect(linters.composeSpec(file)).toEqual({ status: 0, output: "" });
    const wrong = join(folder, "compose.yaml");
    writeFileSync(wrong, "services: { core: { imgae: x } }\n");
    expect(linters.composeSpec(wrong).status).toBe(1);
  });
});

describe("the Helm chart", () => {
  const render = (values: readonly string[]) => {
    const { status, output } = linters.helm(
      ...["template", "activity", CHART, "--kube-version", "1.34.0", ...values],
    );
    expect({ status, output: status === 0 ? "" : output }).toEqual({ status: 0, output: "" });
    return output;
  };
  /** The chart with every option: its resources and its three containers. */
  const everything = () => {
    const resources = parseAllDocuments(render(EVERYTHING)).map((one) => one.toJS() as Resource);
    const containers = resources.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
    expect(containers).toHaveLength(3);
    return { resources, containers };
  };

  it.each([
    ["plain", PLAIN],
    ["with everything", EVERYTHING],
  ])("is as helm lint wants it, and renders what Kubernetes takes: %s", (name, values) => {
    expect(linters.helm("lint", CHART, "--strict", ...values)).toMatchObject({ status: 0 });
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, render(values));
    const said = linters.kubernetesValidate(file);
    expect(said.output).not.toContain("ERROR");
    expect(said.status).toBe(0);
  });

  it("runs each part twice, on a read-only root, behind a budget and a network policy", () => {
    const { resources, containers } = everything();
    const count = (kind: string) => resources.filter((one) => one.kind === kind).length;
    const kinds = ["Deployment", "PodDisruptionBudget", "NetworkPolicy"];
    expect(kinds.map(count)).toEqual([3, 3, 3]);
    for (const { env = [], securityContext, livenessProbe, readinessProbe } of containers) {
      expect(livenessProbe).toMatchObject({ httpGet: { path: "/live", port: "health" } });
      expect(readinessProbe).toMatchObject({ httpGet: { path: "/ready", port: "health" } });
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true });
      expect(env.map(({ name }) => name).filter((name) => !documentedVariables.has(name))).toEqual(
        [],
      );
    }
  });

  it("opens no health port: 64 idle connections there would fail the probes", () => {
    const policies = everything().resources.filter(({ kind }) => kind === "NetworkPolicy");
    const opened = policies.map(({ metadata, spec }) => [
      metadata.name,
      // A rule without ports opens all ports.
      (spec.ingress ?? []).flatMap(({ ports }) => ports?.map(({ port }) => port) ?? ["all"]),
    ]);
    expect(Object.fromEntries(opened)).toEqual({
      "activity-core": ["core", "dashboard", "metrics"],
      "activity-gateway": ["http", "metrics"],
      "activity-deliveries": ["metrics", "temporal-sdk"],
    });
  });

  it("serves metrics where it is told to, at the ports that Prometheus' configuration names, to who may scrape", () => {
    const { resources, containers } = everything();
    const ofMetrics = containers.map(({ ports = [] }) =>
      ports.flatMap(({ name, containerPort }) =>
        ["metrics", "temporal-sdk"].includes(name) ? [`${name} ${containerPort}`] : [],
      ),
    );
    const both = ["metrics 9464", "temporal-sdk 9465"];
    expect(ofMetrics.toSorted((a, b) => a.length - b.length)).toEqual([
      ...[["metrics 9464"], ["metrics 9464"]],
      both,
    ]);
    for (const { env = [] } of containers) {
      expect(env).toContainEqual({ name: "METRICS_PORT", value: "9464" });
    }
    const config = readFileSync(join(ROOT, "deploy/prometheus/kubernetes.yaml"), "utf8");
    const scraped = [...config.matchAll(/regex: (metrics|temporal-sdk)$/gm)].map(
      ([, name]) => name,
    );
    expect(scraped).toEqual(["metrics", "temporal-sdk"]);
    const from = [{ namespaceSelector: { matchLabels: { a: "b" } } }];
    const open = resources
      .filter(({ kind }) => kind === "NetworkPolicy")
      .map(({ spec }) => spec.ingress?.find(({ ports }) => ports?.[0]?.port === "metrics")?.from);
    expect(open).toEqual([from, from, from]);
    expect(render(PLAIN)).not.toContain("METRICS_PORT");
  });

  it("has each part send its traces where it is told to, and else nowhere", () => {
    const { containers } = everything();
    for (const { env = [] } of containers) {
      const endpoint = "http://collector:4318";
      expect(env).toContainEqual({ name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: endpoint });
      expect(env).toContainEqual({ name: "OTEL_TRACES_SAMPLER_ARG", value: "0.01" });
    }
    expect(render(PLAIN)).not.toContain("OTEL_");
  });

  it.each([
    ["metrics that nobody may scrape", [...PLAIN, "--set", "metrics.enabled=true"], /scrapers/],
    ["a collector without a scheme", [...PLAIN, "--set", "traces.endpoint=a:1"], /endpoint/],
    ["neither TLS nor a word for plain text", MUST, /\/core/],
    ["no Temporal", ["--set", "core.plaintext=trusted-network"], /\/temporal\/address/],
    ["a value that nobody reads", [...PLAIN, "--set", "core.replica=3"], /replica/],
  ])("refuses values with %s", (_, values, place) => {
    const said = linters.helm("template", "activity", CHART, "--kube-version", "1.34.0", ...values);
    expect(said.status).toBe(1);
    expect(said.output).toMatch(place);
  });
});
