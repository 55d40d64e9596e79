import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { packPackage } from "../../tools/release/published.ts";
import { compileConsumer, lintPackage, pinned } from "./check-consumer.ts";
import { measureCore } from "./core-size.ts";

const MAX_CORE_BYTES = 4 * 1024;
const PACKAGE = path.resolve(import.meta.dirname, "..");
/** A user's receiver. */
const CONSUMER = path.join(PACKAGE, "test/consumer/receiver.ts");
const require = createRequire(import.meta.url);

const folder = mkdtempSync(path.join(tmpdir(), "receiver-kit-package-"));
try {
  const tarball = packPackage("receiver-kit", folder);
  lintPackage(tarball, PACKAGE);
  const packages = ["@types/node", "@types/pg", "pg"].map(pinned);
  compileConsumer(CONSUMER, [tarball, ...packages], folder);
  const { minified, gzipped } = await measureCore();
  console.log(`core: ${minified} bytes minified, ${gzipped} gzipped, 0 dependencies`);
  if (gzipped >= MAX_CORE_BYTES) throw new Error(`the core is over ${MAX_CORE_BYTES} bytes`);
  const { dependencies } = require("../package.json") as { dependencies?: object };
  if (dependencies) throw new Error("the package has dependencies");
} finally {
  rmSync(folder, { recursive: true });
}
