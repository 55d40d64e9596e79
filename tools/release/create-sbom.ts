import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ProductionPackage, productionPackages } from "./production-packages.ts";
import { ROOT } from "./published.ts";

/**
 * Returns the product's bill of materials in CycloneDX 1.6: each package with its licence, its tarball's hash and its
 * dependencies. It depends only on the lock file and package.json, so a commit always has the same document.
 */
export function createSbom() {
  const { name, version, description, license } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  const product = purlOf({ name, version });
  const packages = productionPackages();
  const purls = new Map(packages.map((each) => [each.path, purlOf(each)]));
  // A package that is installed twice is one component, with the dependencies of both installations.
  const components = new Map(packages.map((each) => [purlOf(each), componentOf(each)]));
  const needs = new Map([product, ...components.keys()].map((purl) => [purl, new Set<string>()]));
  for (const each of packages) {
    if (each.isDirect) needs.get(product)?.add(purlOf(each));
    for (const path of each.needs) needs.get(purlOf(each))?.add(purls.get(path) ?? path);
  }
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        ...{ type: "application", "bom-ref": product, name, version, description, purl: product },
        licenses: [{ expression: license }],
      },
    },
    components: [...components.values()],
    dependencies: [...needs].map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn] })),
  };
}

function componentOf(each: ProductionPackage) {
  const { name, version, license, integrity = "" } = each;
  const purl = purlOf(each);
  const hash = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return {
    ...{ type: "library", "bom-ref": purl, name, version, purl },
    hashes: [{ alg: "SHA-512", content: hash }],
    licenses: [{ expression: license }],
  };
}

function purlOf({ name, version }: Pick<ProductionPackage, "name" | "version">): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}
