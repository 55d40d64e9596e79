import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { documentedVariables } from "./documented-variables.ts";
import { ROOT } from "./import-rule.ts";

type Service = {
  readonly image?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
};

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const services: Readonly<Record<string, Service>> = parse(read("deploy/compose.yaml"), {
  merge: true,
}).services;
const service = (name: string): Service => services[name] ?? expect.unreachable(name);

describe("the Containerfile", () => {
  it("runs no package's install script: each npm ci has --ignore-scripts", () => {
    const installs = read("Containerfile").match(/\bnpm (?:ci|install)\b[^&\n]*/g);
    expect(installs).toHaveLength(2);
    for (const install of installs ?? []) expect(install).toContain(" --ignore-scripts");
  });
});

describe("compose.yaml", () => {
  const ours = Object.entries(services).filter(([, { image }]) =>
    image?.startsWith("personal-activity:"),
  );

  it("sets only variables that docs/configuration.md lists, and no secret but by its file", () => {
    expect(ours.map(([name]) => name)).toEqual(["core", "credentials", "gateway", "deliveries"]);
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
  });

  const meet = (one: string, other: string) =>
    service(one).networks.some((network) => service(other).networks.includes(network));

  it.each([
    ["gateway", "database"],
    ["gateway", "limiter"],
    ["gateway", "temporal"],
    ["deliveries", "database"],
    ["deliveries", "limiter"],
    ["core", "temporal"],
  ])("keeps %s from %s", (one, other) => {
    expect(meet(one, other)).toBe(false);
  });

  it.each([
    ["gateway", "core"],
    ["deliveries", "core"],
    ["deliveries", "temporal"],
    ["core", "database"],
    ["core", "limiter"],
    ["temporal", "database"],
    ["prometheus", "temporal"],
  ])("lets %s meet %s", (one, other) => {
    expect(meet(one, other)).toBe(true);
  });

  it("gives the gateway and the deliveries no credential but their own", () => {
    const mounted = ["gateway", "deliveries"].map((name) => service(name).volumes);
    expect(mounted).toEqual([
      ["gateway-credential:/credential:ro"],
      ["deliveries-credential:/credential:ro"],
    ]);
  });
});
