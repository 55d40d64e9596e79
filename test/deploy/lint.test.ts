import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { documentedVariables, namesIn, readText } from "../architecture/import-rule.ts";
import { useFolder } from "../harness/use-started.ts";
import { fetchLinters, type Linters } from "./harness-linters.ts";

const CHART = "deploy/helm/personal-activity";
const MUST = ["temporal.address=temporal:7233"];
const PLAIN = [...MUST, "core.plaintext=trusted-network"];
const CHECKERS = "networkPolicy.healthCheckers[0].ipBlock.cidr=10.1.0.0/16";
const EVERYTHING = [
  ...[...MUST, "core.tlsSecret=core-tls", "limiter.enabled=true", "temporal.apiKey=true"],
  ...["dashboard.url=https://dash.example.com", "metrics.enabled=true"],
  ...["traces.endpoint=http://collector:4318", "traces.collectors[0].podSelector.matchLabels.c=d"],
  ...["core", "gateway", "deliveries"].flatMap((part) => [
    `${part}.extraEnv[0].name=OTEL_SERVICE_NAME`,
    `${part}.extraEnv[0].value=named`,
  ]),
  ...["metrics.scrapers[0].namespaceSelector.matchLabels.a=b", "database.caSecret=db-ca"],
  ...["imagePullSecrets[0].name=pull", "listenHost=::"],
  CHECKERS,
];

type Container = {
  readonly env?: { readonly name: string; readonly value?: string }[];
  readonly ports?: { readonly name: string; readonly containerPort: number }[];
  readonly [other: string]: unknown;
};
type Ingress = { readonly ports?: { readonly port: string }[]; readonly from?: unknown };
type Resource = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template?: { readonly spec: { readonly containers: Container[] } };
    readonly ingress?: readonly Ingress[];
    readonly [other: string]: unknown;
  };
};

const folder = useFolder("lint");
let linters: Linters;
beforeAll(() => {
  linters = fetchLinters();
}, 600_000);

it("hadolint finds nothing in the Containerfile", () => {
  expect(linters.hadolint("Containerfile")).toEqual({ status: 0, output: "" });
});

it("compose.yaml follows the Compose specification", () => {
  expect(linters.composeSpec("deploy/compose.yaml")).toEqual({ status: 0, output: "" });
  const wrong = join(folder, "compose.yaml");
  writeFileSync(wrong, "services: { core: { imgae: x } }\n");
  expect(linters.composeSpec(wrong).status).toBe(1);
});

describe("the Helm chart", () => {
  const set = (values: readonly string[]) => values.flatMap((value) => ["--set", value]);
  const TEMPLATE = ["template", "activity", CHART, "--kube-version", "1.34.0"];
  const template = (values: readonly string[], ...more: string[]) =>
    linters.helm(...TEMPLATE, ...set(values), ...more);
  const render = (values: readonly string[]) => {
    const { status, output } = template(values);
    expect({ status, output: status === 0 ? "" : output }).toEqual({ status: 0, output: "" });
    return output;
  };
  /** The chart with every option: its resources, its three network policies and its three containers. */
  const everything = () => {
    const resources = parseAllDocuments(render(EVERYTHING)).map((one) => one.toJS() as Resource);
    const containers = resources.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
    expect(containers).toHaveLength(3);
    const policies = resources.filter(({ kind }) => kind === "NetworkPolicy");
    return { resources, containers, policies };
  };

  it.each([
    ["plain", PLAIN],
    ["with everything", EVERYTHING],
  ])("passes helm lint and renders valid Kubernetes resources: %s", (name, values) => {
    expect(linters.helm("lint", CHART, "--strict", ...set(values))).toMatchObject({ status: 0 });
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, render(values));
    const said = linters.kubernetesValidate(file);
    expect(said.output).not.toContain("ERROR");
    expect(said.status).toBe(0);
  });

  it("runs each part twice, on a read-only root, behind a budget and a network policy, with its extraEnv", () => {
    const { resources, containers } = everything();
    const count = (kind: string) => resources.filter((one) => one.kind === kind).length;
    const kinds = ["Deployment", "PodDisruptionBudget", "NetworkPolicy"];
    expect(kinds.map(count)).toEqual([3, 3, 3]);
    const replicas = resources.flatMap(({ spec }) => spec.replicas ?? []);
    expect(replicas).toEqual([2, 2, 2]);
    const evictions = resources.flatMap(({ spec }) => spec.unhealthyPodEvictionPolicy ?? []);
    expect(evictions).toEqual(["AlwaysAllow", "AlwaysAllow"]);
    for (const { env = [], securityContext, livenessProbe, readinessProbe } of containers) {
      expect(livenessProbe).toMatchObject({ httpGet: { path: "/live", port: "health" } });
      expect(readinessProbe).toMatchObject({ httpGet: { path: "/ready", port: "health" } });
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true });
      const names = env.map(({ name }) => name);
      expect(names.filter((name) => !documentedVariables.has(name))).toEqual([]);
      expect(env.at(-1)).toEqual({ name: "OTEL_SERVICE_NAME", value: "named" });
    }
  });

  it("takes no variable from the namespace's Services: one named gateway would set GATEWAY_PORT", () => {
    // Three parts, and the pod of `helm test`.
    expect(render(EVERYTHING).match(/enableServiceLinks: false$/gm)).toHaveLength(4);
  });

  it("pulls with imagePullSecrets, and listens only on listenHost", () => {
    const rendered = render(EVERYTHING);
    expect(rendered.match(/imagePullSecrets:\n\s+- name: pull$/gm)).toHaveLength(4);
    expect(rendered.match(/_HOST, value: "::"/g)).toHaveLength(9);
    expect(rendered).not.toContain("0.0.0.0");
  });

  it("mounts the database's own CA in the core only, where it is named", () => {
    const mounted = { name: "database-ca", mountPath: "/run/database-ca", readOnly: true };
    const mounting = everything().containers.filter(({ volumeMounts }) =>
      JSON.stringify(volumeMounts).includes(JSON.stringify(mounted)),
    );
    expect(mounting.map(({ name }) => name)).toEqual(["core"]);
    expect(render(PLAIN)).not.toContain("database-ca");
  });

  it("opens no health port, where 64 idle connections would fail the probes, except to named checkers", () => {
    expect(render(PLAIN)).not.toContain("ports: [{ port: health }]");
    const opened = everything().policies.map(({ metadata, spec }) => [
      metadata.name,
      // A rule without ports opens all ports.
      (spec.ingress ?? []).flatMap(({ ports }) => ports?.map(({ port }) => port) ?? ["all"]),
    ]);
    expect(Object.fromEntries(opened)).toEqual({
      "activity-core": ["core", "dashboard", "health", "metrics"],
      "activity-gateway": ["http", "health", "metrics"],
      "activity-deliveries": ["metrics", "temporal-sdk"],
    });
    // Only the gateway opens its health port, because without the dashboard no balancer sends to the cores.
    const checked = render([...PLAIN, CHECKERS]);
    expect(checked.match(/ports: \[\{ port: health \}\]/g)).toHaveLength(1);
  });

  it("serves metrics only where it is told to, at the ports in Prometheus' configuration, to the named scrapers", () => {
    const { containers, policies } = everything();
    const scraped = containers.map(({ ports = [] }) =>
      ports
        .filter(({ name }) => ["metrics", "temporal-sdk"].includes(name))
        .map(({ name, containerPort }) => `${name} ${containerPort}`)
        .join(),
    );
    const deliveries = "metrics 9464,temporal-sdk 9465";
    expect(scraped.toSorted()).toEqual(["metrics 9464", "metrics 9464", deliveries]);
    for (const { env = [] } of containers) {
      expect(env).toContainEqual({ name: "METRICS_PORT", value: "9464" });
    }
    const config = readText("deploy/prometheus/kubernetes.yaml");
    const named = namesIn(config, /regex: (metrics|temporal-sdk)$/gm);
    expect(named).toEqual(["metrics", "temporal-sdk"]);
    const open = policies.map(
      ({ spec }) => spec.ingress?.find(({ ports }) => ports?.[0]?.port === "metrics")?.from,
    );
    const from = [{ namespaceSelector: { matchLabels: { a: "b" } } }];
    expect(open).toEqual([from, from, from]);
    expect(render(PLAIN)).not.toContain("METRICS_PORT");
  });

  it("makes each part send its traces only where it is told to", () => {
    for (const { env = [] } of everything().containers) {
      const endpoint = "http://collector:4318";
      expect(env).toContainEqual({ name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: endpoint });
      expect(env).toContainEqual({ name: "OTEL_TRACES_SAMPLER_ARG", value: "0.010000000" });
    }
    expect(render(PLAIN)).not.toContain("OTEL_");
    const seldom = join(folder, "seldom.yaml");
    writeFileSync(seldom, "traces: { sampledPart: 0.00005 }");
    expect(template(EVERYTHING, "--values", seldom).output).toContain('"0.000050000"');
    const gateway = everything().policies.find(({ metadata }) => metadata.name.endsWith("gateway"));
    const to = [{ podSelector: { matchLabels: { c: "d" } } }];
    expect(gateway?.spec.egress).toContainEqual({ to });
  });

  it.each([
    ["metrics that nobody may scrape", [...PLAIN, "metrics.enabled=true"], /scrapers/],
    ["a collector that no gateway may call", [...PLAIN, "traces.endpoint=http://a"], /collectors/],
    ["a collector without a scheme", [...PLAIN, "traces.endpoint=a:1"], /endpoint/],
    ["neither TLS nor permission for plain text", MUST, /\/core/],
    ["no Temporal", ["core.plaintext=trusted-network"], /\/temporal\/address/],
    ["a URL for Temporal", [...PLAIN, "temporal.address=https://a:7233"], /\/temporal\/address/],
    ["a value that nothing reads", [...PLAIN, "core.replica=3"], /replica/],
  ])("refuses values with %s", (_, values, place) => {
    const said = template(values);
    expect(said.status).toBe(1);
    expect(said.output).toMatch(place);
  });
});
