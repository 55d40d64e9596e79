import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** The folder of the built dashboard. */
export const DASHBOARD_FILES = fileURLToPath(new URL("../../dashboard/dist", import.meta.url));

const LOADED = /(?:src|href)="\/([^"]+)"/g;

/** Measures the gzipped sizes of index.html and the files it names, and their sum. Leaves out files that load later. */
export function measureFirstLoad(folder: string) {
  const index = readFileSync(join(folder, "index.html"), "utf8");
  const names = ["index.html", ...[...index.matchAll(LOADED)].map(([, name = ""]) => name)];
  const files = names.map((name) => {
    const { length: gzippedBytes } = gzipSync(readFileSync(join(folder, name)), { level: 9 });
    return { name, gzippedBytes };
  });
  return { files, gzippedBytes: files.reduce((sum, file) => sum + file.gzippedBytes, 0) };
}
