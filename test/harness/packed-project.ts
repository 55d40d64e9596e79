import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packPackage, ROOT } from "../../tools/release/published.ts";

/** The oldest release line of Node that the `engines` of a package's manifest allow. */
const NODE_BY_ENGINES = new Map([
  [">=20", "node@20.20.2"],
  [">=22", "node@22.23.3"],
]);

/**
 * Creates a bare project with a packed package, its oldest line of Node and more packages. Returns the path of that
 * Node.
 */
export function installPacked(
  name: Parameters<typeof packPackage>[0],
  folder: string,
  more: readonly string[] = [],
): string {
  const manifest = { private: true, type: "module", allowScripts: { node: true } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const { engines } = JSON.parse(readFileSync(join(ROOT, name, "package.json"), "utf8"));
  const node = NODE_BY_ENGINES.get(engines.node);
  if (node === undefined) throw new Error(`NODE_BY_ENGINES lacks ${engines.node} of ${name}`);
  const packages = [packPackage(name, folder), node, ...more];
  // Allows scripts, which the user's settings may forbid: a script of the package `node` places its program.
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts=false", ...packages];
  execFileSync("npm", args, { cwd: folder, stdio: "pipe" });
  return join(folder, "node_modules/node/bin/node");
}
