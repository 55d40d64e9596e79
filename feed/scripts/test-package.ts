import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileConsumer, pinned } from "../../receiver-kit/scripts/check-consumer.ts";
import { packPackage } from "../../tools/release/published.ts";
import { measureClient } from "./client-size.ts";

/** A user's program. */
const CONSUMER = resolve(import.meta.dirname, "../test/consumer/overlay.ts");

const folder = mkdtempSync(join(tmpdir(), "activity-feed-package-"));
try {
  const tarball = packPackage("feed", folder);
  check("publint", ["run", "--strict", tarball]);
  check("attw", [tarball, "--format", "table-flipped"]);
  compileConsumer(CONSUMER, [tarball, pinned("@types/node")], folder);
  const { minified, gzipped } = await measureClient();
  console.log(`client: ${minified} bytes minified, ${gzipped} gzipped, 0 dependencies`);
} finally {
  rmSync(folder, { recursive: true });
}

function check(program: string, args: readonly string[]): void {
  execFileSync("npx", ["--no-install", program, ...args], {
    cwd: resolve(import.meta.dirname, ".."),
    stdio: "inherit",
  });
}
