import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The placeholder for the repository's owner. */
const PLACEHOLDER = "/OWNER/";
const LINKS = ["homepage", "bugs", "repository"] as const;
const SENTENCE_END = ": write the owner of the GitHub repository.";

/** Returns a sentence for each manifest and each text of the published packages whose links have no owner yet. */
export function findMissingOwners(root: string, folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const file = join(folder, "package.json");
    const manifest = JSON.parse(readFileSync(join(root, file), "utf8"));
    const wrong = LINKS.filter((name) => JSON.stringify(manifest[name])?.includes(PLACEHOLDER));
    return [
      ...(wrong.length > 0 ? [`${file} says OWNER in ${wrong.join(", ")}${SENTENCE_END}`] : []),
      ...textsOf(root, folder)
        .filter((text) => readFileSync(join(root, text), "utf8").includes(PLACEHOLDER))
        .map((text) => `${text} says OWNER${SENTENCE_END}`),
    ];
  });
}

/** Returns the texts that npm packs from a folder, besides its manifest. */
function textsOf(root: string, folder: string): string[] {
  const docs = join(folder, "docs");
  const names = existsSync(join(root, docs)) ? readdirSync(join(root, docs)) : [];
  const texts = names.filter((name) => name.endsWith(".md")).map((name) => join(docs, name));
  return [join(folder, "README.md"), ...texts];
}
