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
