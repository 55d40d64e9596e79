import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { installProject, pack, runQuietly } from "../../receiver-kit/scripts/pack.ts";
import { readCodeBlocks } from "../../receiver-kit/test/docs/code-blocks.ts";

const PACKAGES = ["express", "mysql2"];
const STORE = "mysql2.js";
const RECEIVERS = join(import.meta.dirname, "receivers");
const MANIFEST = createRequire(import.meta.url).resolve("receiver-kit/package.json");

/**
 * Creates the project of a user who receives webhooks: the packed kit, and a framework and a driver in the versions
 * that the kit is tested with. The store is the code of the kit's README.
 */
export function createConsumer(folder: string): void {
  const { devDependencies } = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const packages = PACKAGES.map((name) => `${name}@${devDependencies[name]}`);
  installProject(folder, [pack(folder), ...packages]);
  runQuietly("npm", ["pkg", "set", "type=module"], folder);
  for (const name of readdirSync(RECEIVERS)) {
    copyFileSync(join(RECEIVERS, name), join(folder, name));
  }
  writeFileSync(join(folder, STORE), readCodeBlocks("README.md").get(STORE) ?? "");
}
