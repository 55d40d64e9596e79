import { expect, it } from "vitest";
import { measureFirstLoad } from "../../../bench/measure/first-load.ts";
import { builtDashboard } from "./harness-built.ts";

const MAX_BYTES = 170_000;

it("loads at most 170 KB gzipped before its first page. ADR 0040", async () => {
  const { files, gzippedBytes } = measureFirstLoad(await builtDashboard());
  expect(files.map(({ name }) => name.replace(/-[\w-]{8}\./, "."))).toEqual([
    ...["index.html", "icon.svg", "theme.css", "assets/index.js", "assets/index.css"],
  ]);
  expect(gzippedBytes).toBeLessThan(MAX_BYTES);
}, 120_000);
