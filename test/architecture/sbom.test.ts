import { execFileSync } from "node:child_process";
import { relative } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { describe, expect, it } from "vitest";
import { createSbom } from "../../tools/release/create-sbom.ts";
import {
  BUILT_INTO_THE_PAGE,
  productionPackages,
} from "../../tools/release/production-packages.ts";
import { importsOf, productFiles, ROOT } from "./import-rule.ts";

const sbom = createSbom();
const refs = sbom.components.map(({ purl }) => purl);

describe("the bill of materials", () => {
  it("matches the schema of CycloneDX 1.6", async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(JSON.stringify(sbom))).toBeNull();
    expect(await validator.validate(JSON.stringify({ ...sbom, components: [{}] }))).not.toBeNull();
  });

  it("has every package that npm installs in production", () => {
    const packages = ["proto", "runtime", "server", "gateway", "workflows"];
    const workspaces = packages.map((name) => `--workspace=${name}`);
    const args = ["ls", "--omit=dev", "--all", "--parseable", ...workspaces];
    const listed = execFileSync("npm", args, { cwd: ROOT, encoding: "utf8" });
    const ours = new Set(productionPackages().map(({ path }) => path));
    const others = listed
      .split("\n")
      .map((path) => relative(ROOT, path))
      .filter((path) => path.includes("node_modules/") && !path.includes("/@activity/"));
    expect(others.length).toBeGreaterThan(100);
    expect(others.filter((path) => !ours.has(path))).toEqual([]);
  });

  it("has every package that the dashboard's page is built from", () => {
    const imported = productFiles("dashboard/src")
      .flatMap(importsOf)
      .map(({ target }) => /^(?:@[\w.-]+\/)?[\w.-]+/.exec(target)?.[0] ?? "")
      .filter((name) => !["dashboard", "@activity/proto", "@activity/runtime"].includes(name));
    expect([...new Set(imported)].toSorted()).toEqual(BUILT_INTO_THE_PAGE);
    for (const name of BUILT_INTO_THE_PAGE) {
      expect(refs.join("\n")).toContain(`pkg:npm/${name.replace("@", "%40")}@`);
    }
  });

  it("has the licence, the tarball's hash and the dependents of each package", () => {
    const told = sbom.components.filter(
      ({ hashes: [hash], licenses: [license] }) =>
        /^[0-9a-f]{128}$/.test(hash?.content ?? "") && license?.expression !== "none",
    );
    expect(told.map(({ purl }) => purl)).toEqual(refs);
    const needed = new Set(sbom.dependencies.flatMap(({ dependsOn }) => dependsOn));
    expect(refs.filter((purl) => !needed.has(purl))).toEqual([]);
    expect([...needed].filter((purl) => !refs.includes(purl))).toEqual([]);
  });
});
