import { expect, it } from "vitest";
import type { ImportCounts } from "./import-report.ts";
import { summaryText } from "./summary.ts";

const COUNTS = { stored: 1, unchanged: 0, refused: 2, leftOut: 0, reasons: [] };
const WRONG: ImportCounts["reasons"][number] = ["row: has 3 cells, and the header has 4", 1];
const CURABLE: ImportCounts["reasons"][number] = ["date: has no offset; add --timezone", 1];

// A row without an id gets another id in the file of refused rows than in the imported file.
it("says to import the same file again if an option cures a reason, so that no id changes", () => {
  for (const reasons of [[CURABLE], [WRONG, CURABLE]]) {
    const text = summaryText({ ...COUNTS, reasons }, "r.csv", 1);
    expect(text).toMatch(/Import the same file again with all options .* correct only/);
    expect(text).not.toContain("correct them there");
  }
});

it("says to correct refused rows in their file if no option cures them", () => {
  const text = summaryText({ ...COUNTS, reasons: [WRONG] }, "r.csv", 1);
  expect(text).toContain("in r.csv, each with its reason and line: correct them there");
  expect(text).not.toContain("same file again");
});

it("counts the rows that --only leaves out, if there are any", () => {
  expect(summaryText({ ...COUNTS, refused: 0, leftOut: 3 }, undefined, 1)).toBe(
    "4 rows in 1.0 s: 1 stored, 0 unchanged, 0 refused, 3 left out by --only.\n",
  );
  expect(summaryText({ ...COUNTS, refused: 0 }, undefined, 1)).not.toContain("--only");
});
