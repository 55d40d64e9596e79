import type { CsvRow } from "./csv-rows.ts";
import type { Donation } from "./donation-row.ts";

/** Donations that are sent together, each with its row. */
export type Batch = { readonly donations: readonly Donation[]; readonly rows: readonly CsvRow[] };

/** The maximum number of rows in one message. */
const MAX_ROWS = 1_000;
/** The maximum characters of text in one message. */
const MAX_TEXT = 1_000_000;

/** Groups donations into batches. */
export async function* batchesOf(
  donations: AsyncIterable<{ readonly donation: Donation; readonly row: CsvRow }>,
): AsyncGenerator<Batch, void> {
  let batch: { donations: Donation[]; rows: CsvRow[] } = { donations: [], rows: [] };
  let text = 0;
  for await (const { donation, row } of donations) {
    batch.donations.push(donation);
    batch.rows.push(row);
    text += (donation.message?.length ?? 0) + (donation.donorName?.length ?? 0);
    if (batch.rows.length < MAX_ROWS && text < MAX_TEXT) continue;
    yield batch;
    batch = { donations: [], rows: [] };
    text = 0;
  }
  if (batch.rows.length > 0) yield batch;
}
