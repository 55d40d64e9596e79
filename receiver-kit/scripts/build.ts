import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const packageFolder = path.resolve(import.meta.dirname, "..");
const distFolder = path.join(packageFolder, "dist");
const require = createRequire(import.meta.url);
const tscPath = path.join(path.dirname(require.resolve("typescript/package.json")), "bin/tsc");

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
    [tscPath, "-p", "tsconfig.build.json", "--outDir", outFolder, ...tscOptions],
    { cwd: packageFolder, stdio: "inherit" },
  );
  const extension = format === "cjs" ? "cjs" : "js";
  for (const entry of readdirSync(outFolder, { recursive: true, encoding: "utf8" })) {
    const file = path.join(outFolder, entry);
    if (/\.map$/.test(entry)) rmSync(file);
    else if (/\.(js|d\.ts)$/.test(entry)) finishFile(file, extension);
  }
}

/**
 * Corrects a built file's imports.
 *
 * tsc keeps `.ts` in declarations, which older compilers refuse. CommonJS in a package of ES modules needs its own
 * extension. And `#crypto` still names the source.
 */
function finishFile(file: string, extension: "js" | "cjs"): void {
  const text = readFileSync(file, "utf8")
    .replace(/((?:from |import\(|require\()"\.{1,2}\/[^"]*)\.(?:ts|js)"/g, `$1.${extension}"`)
    .replaceAll('"#crypto"', '"#built-crypto"')
    .replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n");
  const name =
    extension === "cjs" ? file.replace(/\.d\.ts$/, ".d.cts").replace(/\.js$/, ".cjs") : file;
  rmSync(file);
  writeFileSync(name, text);
}
