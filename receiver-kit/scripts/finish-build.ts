import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Corrects the imports in all files of a build, and the names of CommonJS files.
 *
 * tsc keeps `.ts` in the imports of declarations, but older compilers refuse such imports. In a package of ES modules,
 * CommonJS files need the extension `.cjs`. `#crypto` names the kit's source, and `#built-crypto` names its build.
 */
export function finishBuild(folder: string, format: "esm" | "cjs"): void {
  const extension = format === "cjs" ? "cjs" : "js";
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/\.(js|d\.ts)$/.test(entry)) continue;
    const file = path.join(folder, entry);
    const text = readFileSync(file, "utf8")
      .replace(/((?:from |import\(|require\()"\.{1,2}\/[^"]*)\.(?:ts|js)"/g, `$1.${extension}"`)
      .replaceAll('"#crypto"', '"#built-crypto"');
    const name =
      format === "cjs" ? file.replace(/\.d\.ts$/, ".d.cts").replace(/\.js$/, ".cjs") : file;
    rmSync(file);
    writeFileSync(name, text);
  }
}
