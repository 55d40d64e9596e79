import { batchesOf } from "./batches.ts";
import type { CoreClient } from "./core-client.ts";
import type { CsvFile } from "./csv-file.ts";
import type { CsvRow } from "./csv-rows.ts";
import { findDecimalMark } from "./decimal-evidence.ts";
import { createDerivedIds } from "./derived-ids.ts";
import {
  type Donation,
  fitsHeader,
  type KnownMark,
  type RowRules,
  readDonation,
} from "./donation-row.ts";
import { ImportError } from "./import-error.ts";
import type { ImportReport } from "./import-report.ts";
import type { DecimalMark } from "./number-text.ts";
import type { Parsed } from "./parsed.ts";
import type { RefusedFile } from "./refused-file.ts";
import type { RowFilter } from "./row-filter.ts";
import { type Opening, sendDonations } from "./send-donations.ts";

/**
 * Refuses a row that differs from the stored donation with the same id. The core changes nothing. Without this
 * refusal, the row would be lost unreported if the column does not hold ids of donations.
 */
const DIFFERS =
  "id: a stored donation has this id and says something else; leave this row out if it is that donation";

/** One import: its file, its target and its rules. */
export type ImportJob = {
  readonly core: CoreClient;
  readonly opening: Opening;
  readonly file: CsvFile;
  readonly rules: RowRules;
  readonly filter: RowFilter;
  /** The value of `--decimal`. */
  readonly decimalMark: DecimalMark | undefined;
  readonly refusedFile: RefusedFile;
  readonly report: ImportReport;
};

/**
 * Imports a file. It reads rows no faster than the core stores them. Rows that it or the core refuses go to the file of
 * refused rows. If the file cannot be read to its end, all rows before that point are stored before the ImportError.
 */
export async function importFile(job: ImportJob): Promise<void> {
  const { core, opening, report, refusedFile } = job;
  let failure: unknown;

  async function* readableDonations() {
    try {
      yield* readDonations(job);
    } catch (error) {
      failure = error;
    }
  }

  await sendDonations(core, opening, batchesOf(readableDonations()), async (answer, batch) => {
    const firstIndex = Number(answer.received) - batch.rows.length;
    const differing = answer.differingRows.map((index) => ({ index, reason: DIFFERS }));
    const refusedRows = [...answer.refusedRows, ...differing].map(({ index, reason }) => {
      const row = batch.rows[Number(index) - firstIndex];
      if (row === undefined)
        throw new ImportError("The core refused a row that it did not receive.");
      return { row, reason };
    });
    // The report comes first, so that the summary counts the stored rows even if the refused ones cannot be written.
    report.addAnswer(answer, refusedRows);
    await refusedFile.add(refusedRows);
  });
  if (failure !== undefined) throw failure;
}

async function* readDonations(
  job: ImportJob,
): AsyncGenerator<{ donation: Donation; row: CsvRow }, void> {
  const { file, rules, filter, refusedFile, report } = job;
  const derivedIds = createDerivedIds();
  let known: KnownMark =
    job.decimalMark === undefined ? { isKnown: false } : { isKnown: true, mark: job.decimalMark };

  async function read(cells: readonly string[]): Promise<Parsed<Donation>> {
    const donation = readDonation(cells, rules, known, derivedIds);
    if (donation !== undefined) return donation;
    const mark = await findDecimalMark(file.readRows(), rules.columns.amount ?? 0);
    known = { isKnown: true, mark };
    return read(cells);
  }

  for await (const rows of file.readRows(report.addBytes)) {
    const refusedRows: { row: CsvRow; reason: string }[] = [];
    for (const row of rows) {
      // Rows that are left out are read too, so that `--only` changes no derived id.
      const donation = await read(row.cells);
      // Does not filter a row with too many or too few cells, because the filter would read the wrong cell.
      if (fitsHeader(row.cells, rules) && !filter.accepts(row.cells)) {
        report.addLeftOut();
      } else if (donation.ok) {
        yield { donation: donation.value, row };
      } else {
        refusedRows.push({ row, reason: donation.reason });
      }
    }
    for (const { reason } of refusedRows) report.addRefused(reason);
    await refusedFile.add(refusedRows);
  }
}
