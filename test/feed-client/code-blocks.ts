import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../tools/release/published.ts";

/** Returns the code blocks of a page of the feed that have a file name, by that name. */
export function readCodeBlocks(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(ROOT, "feed", page), "utf8");
  const blocks = text.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms);
  return new Map(Array.from(blocks, ([, name = "", code = ""]) => [name, code]));
}
