import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { finishBuild } from "../../receiver-kit/scripts/finish-build.ts";
import { TSC } from "../../tools/release/published.ts";

// Builds the package as ES modules and as CommonJS, like receiver-kit.

const PACKAGE = resolve(import.meta.dirname, "..");
const DIST = join(PACKAGE, "dist");

rmSync(DIST, { recursive: true, force: true });
build("esm", "tsconfig.build.json");
// The CommonJS build leaves out the command line, because programs run it and never require it.
build("cjs", "tsconfig.cjs.json");
cpSync(join(PACKAGE, "src/hub/overlay.html"), join(DIST, "esm/hub/overlay.html"));

function build(format: "esm" | "cjs", config: string): void {
  const folder = join(DIST, format);
  execFileSync(process.execPath, [TSC, "-p", config], { cwd: PACKAGE, stdio: "inherit" });
  finishBuild(folder, format);
}
