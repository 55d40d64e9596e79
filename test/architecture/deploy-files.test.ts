import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { documentedVariables, readText } from "./import-rule.ts";

type Service = {
  readonly image?: string;
  readonly build?: unknown;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
  readonly deploy?: { readonly replicas: number };
};

const compose = parse(readText("deploy/compose.yaml"), { merge: true });
const services: Readonly<Record<string, Service>> = compose.services;
const service = (name: string): Service => services[name] ?? expect.unreachable(name);

it("the Containerfile runs no package's install script: each npm ci has --ignore-scripts", () => {
  const installs = readText("Containerfile").match(/\bnpm (?:ci|install)\b[^&\n]*/g);
  expect(installs).toHaveLength(2);
  for (const install of installs ?? []) expect(install).toContain(" --ignore-scripts");
});

describe("compose.yaml", () => {
  const ours = Object.entries(services).filter(([, { image }]) =>
    image?.startsWith("personal-activity:"),
  );

  it("limits the log of every service, so that none fills the database's disk", () => {
    const logging = { options: { "max-size": "50m", "max-file": "20" } };
    for (const [name, one] of Object.entries(services)) {
      expect(one, name).toMatchObject({ logging });
    }
  });

  it("runs the product's services on a read-only root and without capabilities", () => {
    expect(ours.map(([name]) => name)).toEqual(["core", "credentials", "gateway", "deliveries"]);
    for (const [name, one] of ours) {
      expect(one, name).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    }
  });

  it("builds the product's image in one service, because parallel builds of one image can fail", () => {
    expect(ours.filter(([, one]) => one.build).map(([name]) => name)).toEqual(["core"]);
    const { image } = service("core");
    for (const [name, one] of ours) {
      expect(one, name).toMatchObject({ image, pull_policy: "never" });
    }
  });

  it("sets only variables that docs/configuration.md lists, and secrets only as files", () => {
    for (const [, { environment, secrets = [] }] of ours) {
      const variables = Object.keys(environment);
      expect(variables.filter((name) => !documentedVariables.has(name))).toEqual([]);
      const files = Object.entries(environment).filter(([, value]) =>
        value.startsWith("/run/secr"),
      );
      expect(files.map(([, path]) => path.split("/").at(-1)).toSorted()).toEqual(
        secrets.toSorted(),
      );
      expect(files.every(([name]) => name.endsWith("_FILE"))).toBe(true);
    }
  });

  it.each(["core", "gateway"])("lets the operator name the proxies before the %s", (name) => {
    const variable = `\${TRUSTED_PROXIES:-}`;
    expect(service(name).environment).toMatchObject({ TRUSTED_PROXIES: variable });
    const [{ gateway }] = compose.networks.outside.ipam.config;
    expect(readText("docs/deploying.md")).toContain(`\`${gateway}/32\``);
  });

  it.each([
    ["gateway", ["core"], ["database", "limiter", "temporal"]],
    ["deliveries", ["core", "temporal"], ["database", "limiter"]],
    ["core", ["database", "limiter"], ["temporal"]],
    ["temporal", ["database"], []],
    ["prometheus", ["core", "gateway", "deliveries", "temporal"], ["database", "limiter"]],
  ])("connects %s to %j, and not to %j", (name, connected, separate) => {
    const shares = (other: string) =>
      service(name).networks.some((network) => service(other).networks.includes(network));
    expect([...connected, ...separate].filter(shares)).toEqual(connected);
  });

  it("keeps Temporal's ended runs for a week, because a restored database asks about them", () => {
    expect(service("temporal").environment).toMatchObject({ DEFAULT_NAMESPACE_RETENTION: "168h" });
  });

  it("names each container to Prometheus, so that a stopped one stays a target and fires an alert", () => {
    const jobs: { job_name: string; static_configs: unknown }[] = parse(
      readText("deploy/prometheus/compose.yaml"),
    ).scrape_configs;
    const at = (name: string, port: number) =>
      Array.from(
        { length: service(name).deploy?.replicas ?? 0 },
        (_, index) => `${compose.name}-${name}-${index + 1}:${port}`,
      );
    const port = Number(service("core").environment.METRICS_PORT);
    const parts = ["core", "gateway", "deliveries"];
    expect(jobs.map((job) => [job.job_name, job.static_configs])).toEqual([
      ["activity", [{ targets: parts.flatMap((name) => at(name, port)) }]],
      ["activity-temporal", [{ targets: at("deliveries", port + 1) }]],
      ["temporal", [{ targets: ["temporal:9090"] }]],
    ]);
  });

  it("is backed up as docs/operating.md backs up MySQL, with a password that the database's container has", () => {
    const deploying = readText("docs/deploying.md");
    const operating = readText("docs/operating.md");
    const [, ofBoth] = /^mariadb-dump \S+ (.+?) --ignore-table-data/m.exec(operating) ?? [];
    const [, ofMysql] = /use `mysqldump` with `(.+?)`/.exec(operating) ?? [];
    const { MYSQL_DATABASE, MYSQL_ROOT_PASSWORD_FILE } = service("database").environment;
    expect(deploying).toContain(`client mysqldump ${ofBoth} ${ofMysql} ${MYSQL_DATABASE} >`);
    expect(deploying).toContain(`MYSQL_PWD=$(cat ${MYSQL_ROOT_PASSWORD_FILE})`);
    expect(deploying).toContain(`-T database \\`);
  });

  it("takes a pull's alert rules without a restart, and mounts folders, because a mounted file would stay the old one", () => {
    expect(service("prometheus").command).toContain("--enable-feature=auto-reload-config");
    const mounts = ["prometheus", "temporal"].map((name) => service(name).volumes?.[0]);
    expect(mounts).toEqual([
      "./prometheus:/etc/prometheus:ro",
      "./temporal:/etc/temporal/activity:ro",
    ]);
  });

  it("gives the gateway and the deliveries only their own credential", () => {
    const mounted = ["gateway", "deliveries"].map((name) => service(name).volumes);
    expect(mounted).toEqual([
      ["gateway-credential:/credential:ro"],
      ["deliveries-credential:/credential:ro"],
    ]);
  });
});
