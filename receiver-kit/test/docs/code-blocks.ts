import { readFileSync } from "node:fs";
import path from "node:path";

const packageFolder = path.resolve(import.meta.dirname, "../..");

/** Returns the code blocks of a page that have a file name, by that name. */
export function readCodeBlocks(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(path.join(packageFolder, page), "utf8");
  const blocks = text.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms);
  return new Map(Array.from(blocks, ([, name = "", code = ""]) => [name, code]));
}
