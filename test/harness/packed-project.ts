import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { packPackage } from "../../tools/release/published.ts";

/** The oldest Node version that the packages support. */
const NODE = "node@20.20.2";

/** Creates a bare project with a packed package, the oldest Node and more packages. Returns the path of that Node. */
export function installPacked(
  name: Parameters<typeof packPackage>[0],
  folder: string,
  more: readonly string[] = [],
): string {
  const manifest = { private: true, type: "module", allowScripts: { node: true } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const packages = [packPackage(name, folder), NODE, ...more];
  const args = ["install", "--no-audit", "--no-fund", ...packages];
  execFileSync("npm", args, { cwd: folder, stdio: "pipe" });
  return join(folder, "node_modules/node/bin/node");
}
