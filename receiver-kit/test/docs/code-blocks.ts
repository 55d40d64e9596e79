import { readFileSync } from "node:fs";
import path from "node:path";

const packageFolder = path.resolve(import.meta.dirname, "../..");

/** Returns the named code blocks of a package's page by their file names. The default package is this one. */
export function readCodeBlocks(page: string, folder = packageFolder): ReadonlyMap<string, string> {
  const text = readFileSync(path.join(folder, page), "utf8");
  const blocks = text.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms);
  return new Map(Array.from(blocks, ([, name = "", code = ""]) => [name, code]));
}
