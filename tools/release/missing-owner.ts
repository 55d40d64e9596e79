import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The placeholder for the repository's owner. */
const PLACEHOLDER = "/OWNER/";
const LINKS = ["homepage", "bugs", "repository"] as const;

/** Returns a sentence for each published package whose links have no owner yet. */
export function findMissingOwners(root: string, folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const file = join(folder, "package.json");
    const manifest = JSON.parse(readFileSync(join(root, file), "utf8"));
    const wrong = LINKS.filter((name) => JSON.stringify(manifest[name])?.includes(PLACEHOLDER));
    if (wrong.length === 0) return [];
    return [`${file} says OWNER in ${wrong.join(", ")}: write the owner of the GitHub repository.`];
  });
}
