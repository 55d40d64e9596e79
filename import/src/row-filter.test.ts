import { describe, expect, it } from "vitest";
import { createRowFilter } from "./row-filter.ts";

const HEADER = ["id", "Status", "Type"];

describe("the filter of --only", () => {
  it("accepts rows with the whole value, in any case", () => {
    const filter = createRowFilter(HEADER, [{ column: "status", value: " paid" }]);
    expect(filter.places).toEqual([1]);
    expect(filter.accepts(["1", "Paid ", ""])).toBe(true);
    for (const status of ["Unpaid", "Paid out", "Failed", ""]) {
      expect(filter.accepts(["1", status, ""])).toBe(false);
    }
  });

  it("accepts only rows with all values", () => {
    const paid = { column: "Status", value: "Paid" };
    const filter = createRowFilter(HEADER, [paid, { column: "Type", value: "" }]);
    expect(filter.accepts(["1", "Paid", ""])).toBe(true);
    expect(filter.accepts(["1", "Paid", "Refund"])).toBe(false);
    expect(filter.accepts(["1", "Failed", ""])).toBe(false);
  });
});
