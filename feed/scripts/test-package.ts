import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileConsumer, lintPackage, pinned } from "../../receiver-kit/scripts/check-consumer.ts";
import { packPackage } from "../../tools/release/published.ts";
import { measureClient } from "./client-size.ts";

const PACKAGE = resolve(import.meta.dirname, "..");
/** A user's program. */
const CONSUMER = join(PACKAGE, "test/consumer/overlay.ts");

const folder = mkdtempSync(join(tmpdir(), "activity-feed-package-"));
try {
  const tarball = packPackage("feed", folder);
  lintPackage(tarball, PACKAGE);
  compileConsumer(CONSUMER, [tarball, pinned("@types/node")], folder);
  const { minified, gzipped } = await measureClient();
  console.log(`client: ${minified} bytes minified, ${gzipped} gzipped, 0 dependencies`);
} finally {
  rmSync(folder, { recursive: true });
}
