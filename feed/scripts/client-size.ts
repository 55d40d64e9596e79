import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const INDEX = resolve(import.meta.dirname, "../src/index.ts");

/** Measures the package's main entry, minified and gzipped, in bytes. */
export async function measureClient(): Promise<{ minified: number; gzipped: number }> {
  const { outputFiles } = await build({
    ...{ entryPoints: [INDEX], bundle: true, minify: true, write: false, logLevel: "error" },
    ...{ format: "esm", platform: "node", target: "es2022" },
  });
  const [output] = outputFiles;
  if (!output) throw new Error("esbuild gave no file");
  const { contents } = output;
  return { minified: contents.length, gzipped: gzipSync(contents, { level: 9 }).length };
}
