import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

it("docs/scale.md shows every table that bench:cost measured on MariaDB", () => {
  const page = read("../../docs/scale.md");
  const blocks = read("../results/cost-mariadb.md").trim().split("\n\n");
  const tables = blocks.filter((block) => block.startsWith("|"));
  expect(tables).toHaveLength(5);
  for (const table of tables) expect(page).toContain(table);
});
