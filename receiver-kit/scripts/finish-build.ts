import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Corrects the imports in all files of a build.
 *
 * tsc keeps `.ts` in declarations, which older compilers refuse. CommonJS in a package of ES modules needs its own
 * extension. And `#crypto` still names the kit's source.
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
