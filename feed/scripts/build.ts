import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

// Builds the package as ES modules and as CommonJS, like receiver-kit.

const PACKAGE = resolve(import.meta.dirname, "..");
const DIST = join(PACKAGE, "dist");
const require = createRequire(import.meta.url);
const TSC = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");

rmSync(DIST, { recursive: true, force: true });
build("esm", "tsconfig.build.json");
// The CommonJS build leaves out the command line, because programs run it and never require it.
build("cjs", "tsconfig.cjs.json");
cpSync(join(PACKAGE, "src/hub/overlay.html"), join(DIST, "esm/hub/overlay.html"));

function build(format: "esm" | "cjs", config: string): void {
  const folder = join(DIST, format);
  execFileSync(process.execPath, [TSC, "-p", config], { cwd: PACKAGE, stdio: "inherit" });
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (/\.(js|d\.ts)$/.test(name)) finishFile(join(folder, name), format);
  }
}

/**
 * Corrects the file extensions of imports. tsc keeps `.ts` in declarations. CommonJS in a package of ES modules needs
 * `.cjs`.
 */
function finishFile(file: string, format: "esm" | "cjs"): void {
  const ending = format === "cjs" ? "cjs" : "js";
  const text = readFileSync(file, "utf8").replace(
    /((?:from |import\(|require\()"\.{1,2}\/[^"]*)\.(?:ts|js)"/g,
    `$1.${ending}"`,
  );
  const isCjs = format === "cjs";
  const name = isCjs ? file.replace(/\.d\.ts$/, ".d.cts").replace(/\.js$/, ".cjs") : file;
  rmSync(file);
  writeFileSync(name, text);
}
