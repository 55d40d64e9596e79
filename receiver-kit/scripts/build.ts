import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { TSC } from "../../tools/release/published.ts";
import { finishBuild } from "./finish-build.ts";

const packageFolder = path.resolve(import.meta.dirname, "..");
const distFolder = path.join(packageFolder, "dist");

rmSync(distFolder, { recursive: true, force: true });
build("esm", []);
build("cjs", [
  ...["--module", "commonjs"],
  ...["--moduleResolution", "bundler"],
  ...["--verbatimModuleSyntax", "false"],
]);

// The CommonJS build leaves out the command line, because programs run it and never require it.
rmSync(path.join(distFolder, "cjs/cli"), { recursive: true });

function build(format: "esm" | "cjs", tscOptions: readonly string[]): void {
  const outFolder = path.join(distFolder, format);
  execFileSync(
    process.execPath,
    [TSC, "-p", "tsconfig.build.json", "--outDir", outFolder, ...tscOptions],
    { cwd: packageFolder, stdio: "inherit" },
  );
  finishBuild(outFolder, format);
}
