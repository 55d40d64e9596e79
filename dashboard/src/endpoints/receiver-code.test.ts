import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { texts } from "../texts.ts";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

it("shows what the kit's own README shows, whose examples are run", () => {
  const readme = read("../../../receiver-kit/README.md");
  const code = read("receiver-node.txt")
    .split("\n")
    .map((line) => line.replace(/ \/\/ no real reward$/, ""))
    .filter((line) => !/^$|console\.log|receiver\.mjs/.test(line));
  expect(code.length).toBeGreaterThan(15);
  expect(code.filter((line) => !readme.includes(line))).toEqual([]);
  // The page shows the install command in its own block.
  expect(code).not.toContain(texts.endpoints.installCommand);
  expect(readme).toContain(texts.endpoints.installCommand);
});

it("shows the Python, Go and PHP of the kit's documents, which pass its vectors", () => {
  const documented = read("../../../receiver-kit/docs/other-languages.md");
  for (const [language, ending] of [
    ["python", "py"],
    ["go", "go"],
    ["php", "php"],
  ]) {
    const code = read(`receiver-${language}.txt`);
    expect(code).toMatch(/service[-_]signature/i);
    expect(documented).toContain(`verify.${ending}\n${code}\`\`\``);
  }
});
