import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { measureFirstLoad } from "../../../bench/measure/first-load.ts";
import { builtDashboard } from "./harness-built.ts";

const MAX_BYTES = 170_000;

let folder: string;
beforeAll(async () => {
  folder = await builtDashboard();
});

it("loads at most 170 KB gzipped before its first page. ADR 0040", () => {
  const { files, gzippedBytes } = measureFirstLoad(folder);
  expect(files.map(({ name }) => name.replace(/-[\w-]{8}\./, "."))).toEqual([
    "index.html",
    "icon.svg",
    "theme.css",
    "assets/index.js",
    "assets/index.css",
  ]);
  expect(gzippedBytes).toBeLessThan(MAX_BYTES);
});

it("leaves charts to who looks at them", () => {
  const scripts = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".js"));
  const withCharts = scripts.filter((name) =>
    readFileSync(join(folder, "assets", name), "utf8").includes("u-over"),
  );
  expect(withCharts).toEqual([expect.stringMatching(/^stats-chart-/)]);
});
