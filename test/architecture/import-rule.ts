import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** One import statement: the importing file, and the target as a path from the root or a package name. */
export type ImportStatement = { readonly file: string; readonly target: string };

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|(?:^|\n)\s*import\s+"([^"]+)"|import\("([^"]+)"\)/g;

export const readText = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Lists the matches of a pattern in a text, each as its first group that is not empty. */
export const namesIn = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, ...groups]) => groups.find(Boolean) ?? "");

/** Lists our TypeScript files below folders, without tests. */
export const productFiles = (...folders: string[]) =>
  folders.flatMap(sourceFiles).filter((file) => !file.endsWith(".test.ts"));

/** Lists our TypeScript files below a folder. Throws if there is none, because a rule would then check nothing. */
export function sourceFiles(folder: string): string[] {
  const exclude = ["**/node_modules", "**/gen", "**/*.config.ts"];
  const files = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT, exclude });
  if (files.length === 0) throw new Error(`${folder} holds no source file`);
  return files;
}

export function importsOf(file: string): ImportStatement[] {
  return namesIn(readText(file), IMPORT).map((target) => {
    if (!target.startsWith(".")) return { file, target };
    return { file, target: relative(ROOT, resolve(join(ROOT, dirname(file)), target)) };
  });
}

/** The variables of docs/configuration.md, and the `_FILE` variables that may replace them. */
export const documentedVariables: ReadonlySet<string> = new Set(
  namesIn(readText("docs/configuration.md"), /`([A-Z][A-Z_0-9]+)`/g).flatMap((name) => [
    name,
    `${name}_FILE`,
  ]),
);
