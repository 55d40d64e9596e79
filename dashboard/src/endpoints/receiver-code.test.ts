import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { texts } from "../texts.ts";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

it("shows what the kit's own README shows, whose examples are run", () => {
  const readme = read("../../../receiver-kit/README.md");
  const linesOf = (code: string) =>
    code
      .split("\n")
      .map((line) => line.replace(/ \/\/ (?!above).*$/, ""))
      .filter((line) => !/^$|console\.log|receiver\.mjs/.test(line));
  const [, example = ""] = /```js express\.js\n(.*?)```/s.exec(readme) ?? [];
  const code = linesOf(read("receiver-node.txt"));
  // The README's example has a `switch` over the kinds. The page's code logs each event instead.
  expect(code).toEqual(linesOf(example.replace(/ {6}switch .*? {6}}\n/s, "")));
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
