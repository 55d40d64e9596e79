import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installProject, pack, runQuietly } from "../../receiver-kit/scripts/pack.ts";
import { readCodeBlocks } from "../../receiver-kit/test/docs/code-blocks.ts";

const PACKAGES = ["express", "mysql2"];
const STORE = "mysql2.js";
const RECEIVERS = join(import.meta.dirname, "receivers");
const require = createRequire(import.meta.url);

/** A project of a user who receives webhooks. */
export type Consumer = { readonly folder: string; remove(): void };

/**
 * Creates a project with the packed kit, and with a framework and a driver in the versions that the kit is tested
 * with. The store is the code of the kit's README.
 */
export function createConsumer(): Consumer {
  const folder = mkdtempSync(join(tmpdir(), "activity-kit-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    installProject(folder, [pack(folder), ...PACKAGES.map(withVersion)]);
    runQuietly("npm", ["pkg", "set", "type=module"], folder);
    for (const name of readdirSync(RECEIVERS)) {
      copyFileSync(join(RECEIVERS, name), join(folder, name));
    }
    writeFileSync(join(folder, STORE), readCodeBlocks("README.md").get(STORE) ?? "");
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function withVersion(name: string): string {
  const manifest = require.resolve("receiver-kit/package.json");
  const { devDependencies } = JSON.parse(readFileSync(manifest, "utf8")) as {
    devDependencies: Record<string, string>;
  };
  return `${name}@${devDependencies[name]}`;
}
