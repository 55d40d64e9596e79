import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const packageFolder = path.resolve(import.meta.dirname, "..");

/** The size of bundled code, in bytes. */
export interface Size {
  readonly minified: number;
  readonly gzipped: number;
}

/** Measures the package's main entry, as built for runtimes with WebCrypto. */
export function measureCore(): Promise<Size> {
  return measure('export * from "receiver-kit";', ["workerd"]);
}

/** Measures a module with all its imports, minified and gzipped. */
export async function measure(source: string, conditions: readonly string[]): Promise<Size> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: packageFolder },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: conditions.length > 0 ? "browser" : "node",
    conditions: [...conditions],
    target: "es2022",
    logLevel: "error",
  });
  const [output] = outputFiles;
  if (!output) throw new Error("esbuild gave no file");
  return {
    minified: output.contents.length,
    gzipped: gzipSync(output.contents, { level: 9 }).length,
  };
}
