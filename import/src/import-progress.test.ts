import { describe, expect, it } from "vitest";
import { createImportProgress } from "./import-progress.ts";

function show(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  let now = 0;
  const stream = { isTTY, columns, write: (text: string) => written.push(text) };
  const progress = createImportProgress(stream, 1_000, () => now);
  return { written, progress, at: (ms: number) => (now = ms) };
}

describe("the progress of an import", () => {
  it("is a bar on a terminal, drawn over itself, and gone at the end", () => {
    const { written, progress, at } = show(true);
    progress.update(1, 1);
    at(500);
    progress.update(500, 12_345);
    progress.end();
    expect(written).toEqual([
      "\r\u001b[2K[████████████░░░░░░░░░░░░] 50 %, 12,345 rows, 24,690 rows/s",
      "\r\u001b[2K",
    ]);
  });

  it("never wraps on a narrow terminal", () => {
    const { written, progress, at } = show(true, 30);
    at(500);
    progress.update(500, 12_345);
    expect(written[0]?.replace("\r\u001b[2K", "")).toHaveLength(29);
  });

  it("is a plain line now and then anywhere else", () => {
    const { written, progress, at } = show(false);
    at(500);
    progress.update(100, 10);
    at(10_000);
    progress.update(500, 12_345);
    progress.end();
    expect(written).toEqual(["50 %, 12,345 rows, 1,235 rows/s\n"]);
  });
});
