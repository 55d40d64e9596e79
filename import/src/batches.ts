import type { CsvRow } from "./csv-rows.ts";
import type { Donation } from "./donation-row.ts";
import { MAX_BYTES, rowBytes } from "./row-bytes.ts";

/** Donations that are sent together, each with its row. */
export type Batch = { readonly donations: readonly Donation[]; readonly rows: readonly CsvRow[] };

/** The maximum number of rows in one message. */
const MAX_ROWS = 1_000;

/** Groups donations into batches that the core takes as one message. */
export async function* batchesOf(
  donations: AsyncIterable<{ readonly donation: Donation; readonly row: CsvRow }>,
): AsyncGenerator<Batch, void> {
  let batch: { donations: Donation[]; rows: CsvRow[] } = { donations: [], rows: [] };
  let bytes = 0;
  for await (const { donation, row } of donations) {
    const more = rowBytes(donation);
    if (batch.rows.length === MAX_ROWS || (batch.rows.length > 0 && bytes + more > MAX_BYTES)) {
      yield batch;
      batch = { donations: [], rows: [] };
      bytes = 0;
    }
    batch.donations.push(donation);
    batch.rows.push(row);
    bytes += more;
  }
  if (batch.rows.length > 0) yield batch;
}
