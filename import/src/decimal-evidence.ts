import { parseAmountText } from "./amount.ts";
import type { CsvRow } from "./csv-rows.ts";
import { type DecimalMark, provenDecimalMark } from "./number-text.ts";

/**
 * Searches the amounts of a file for those that prove a decimal mark, such as `5,00`. Returns the mark that all of them
 * prove. Returns `undefined` if none does, or if they contradict each other.
 */
export async function findDecimalMark(
  rows: AsyncIterable<readonly CsvRow[]>,
  amountColumn: number,
): Promise<DecimalMark | undefined> {
  let found: DecimalMark | undefined;
  for await (const some of rows) {
    for (const { cells } of some) {
      const text = parseAmountText(cells[amountColumn] ?? "");
      const mark = text.ok ? provenDecimalMark(text.value.readings) : undefined;
      if (mark === undefined) continue;
      if (found !== undefined && found !== mark) return undefined;
      found = mark;
    }
  }
  return found;
}
