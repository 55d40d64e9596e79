import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvLine } from "./csv-line.ts";
import { createCsvRows } from "./csv-rows.ts";
import type { Separator } from "./separator.ts";

function readAll(text: string, separator: Separator = ",") {
  const rows = createCsvRows(separator);
  return [...rows.push(text), ...rows.end()];
}

const cellsOf = (text: string) => readAll(text).map(({ cells }) => cells);

describe("rows of a CSV file", () => {
  it("end with CRLF, LF, CR or the file", () => {
    expect(cellsOf("a,b\r\nc,d\ne,f\rg,h")).toEqual([
      ["a", "b"],
      ["c", "d"],
      ["e", "f"],
      ["g", "h"],
    ]);
  });

  it("keep what is in quotes as it is: separators, line ends, doubled quotes, formulas, NUL, emoji", () => {
    expect(cellsOf('"a,""b""\r\nc","=1+1",x\0y,👩‍🚀\n')).toEqual([
      ['a,"b"\r\nc', "=1+1", "x\0y", "👩‍🚀"],
    ]);
  });

  it("take a quote inside an unquoted cell as text", () => {
    expect(cellsOf('5" screen,b\n')).toEqual([['5" screen', "b"]]);
  });

  it("know the line they begin on, line ends in quotes and skipped lines included", () => {
    const rows = readAll('a,"1\n2\r\n3"\n\n\r\nb,c\rd,e\n');
    expect(rows.map(({ line }) => line)).toEqual([1, 6, 7]);
  });

  it("keep empty cells", () => {
    expect(cellsOf(',\n"",\n')).toEqual([
      ["", ""],
      ["", ""],
    ]);
  });

  it("are the same however the text is cut into pieces", () => {
    const cell = fc.string({
      unit: fc.constantFrom('"', ",", ";", "\r", "\n", "a", "ü", " ", "😀"),
    });
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 6 });
    fc.assert(
      fc.property(
        table,
        fc.array(fc.nat(9)),
        fc.constantFrom(";", ",", "\t"),
        (cells, cuts, by) => {
          const text = cells.map((row) => csvLine(row, by)).join("");
          const rows = createCsvRows(by);
          const read: string[][] = [];
          const take = (piece: string) =>
            read.push(...rows.push(piece).map((row) => [...row.cells]));
          let at = 0;
          for (const cut of cuts) {
            take(text.slice(at, at + cut));
            at += cut;
          }
          take(text.slice(at));
          read.push(...rows.end().map((row) => [...row.cells]));
          expect(read).toEqual(cells);
        },
      ),
    );
  });

  it("are refused with the line when the file ends inside a quote", () => {
    expect(() => readAll('a,b\nc,"d\ne')).toThrow(/ends inside a quoted cell .* line 2/);
    expect(() => readAll('a,"b""')).toThrow(/line 1/);
  });

  it("are refused when a quote is never closed and takes in the rest of a large file", () => {
    expect(() => readAll(`a,"${"x,y\n".repeat(300_000)}`)).toThrow(/^Line 1 begins a row/);
  });
});
