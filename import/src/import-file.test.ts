import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  AccountService,
  type ImportDonationsRequest,
  ImportService,
  Platform,
} from "@activity/proto";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { recognizeColumns } from "./columns.ts";
import { openCsvFile } from "./csv-file.ts";
import { importFile } from "./import-file.ts";
import { createImportReport } from "./import-report.ts";
import { createRowFilter, type OnlyOption } from "./row-filter.ts";

const folder = useFolder("import-file");

const PAID: OnlyOption = { column: "Status", value: "Paid" };

/** Imports a text into a core that stores every row. Returns the ids that the core received. */
async function importText(text: string, ...only: OnlyOption[]) {
  const path = join(folder, "donations.csv");
  await writeFile(path, text);
  const file = await openCsvFile(path);
  const ids: string[] = [];
  async function* importDonations(requests: AsyncIterable<ImportDonationsRequest>) {
    for await (const { step } of requests) {
      if (step.case !== "rows") continue;
      ids.push(...step.value.rows.map((row) => row.externalId));
      const count = BigInt(ids.length);
      yield { received: count, stored: count };
    }
  }
  const transport = createRouterTransport(({ service }) => {
    service(ImportService, { importDonations });
  });
  const reasons: string[] = [];
  const report = createImportReport({ update() {}, end() {} });
  await importFile({
    core: {
      coreUrl: "http://core",
      accounts: createClient(AccountService, transport),
      imports: createClient(ImportService, transport),
    },
    opening: { accountId: "1", platform: Platform.CSV },
    file,
    rules: {
      columns: recognizeColumns(file.header),
      width: file.header.length,
      line: undefined,
      currency: undefined,
      dateOrder: undefined,
      timeZone: undefined,
    },
    filter: createRowFilter(file.header, only),
    decimalMark: undefined,
    refusedFile: {
      path: undefined,
      add: async (rows) => void reasons.push(...rows.map(({ reason }) => reason)),
      close: async () => {},
    },
    report,
  });
  return { ids, reasons, counts: report.counts() };
}

describe("--only", () => {
  const row = (status: string) => `${status},5 EUR,2024-01-31T12:05:59Z\n`;

  it("leaves other rows out, counts them, and does not change the ids of the rest", async () => {
    const text = `Status,amount,date\n${["Failed", "Paid", "Refunded", "Paid"].map(row).join("")}`;
    const all = await importText(text);
    const paid = await importText(text, PAID);
    expect(all.counts).toMatchObject({ stored: 4, leftOut: 0 });
    expect(paid.counts).toMatchObject({ stored: 2, refused: 0, leftOut: 2 });
    expect(paid.ids).toEqual([all.ids[1], all.ids[3]]);
  });

  it("refuses a row with a wrong number of cells, because its value may be in another one", async () => {
    const text = `amount,date,Status\n5 EUR,2024-01-31T12:05:59Z,a comma,Paid\n5 EUR\n`;
    const { reasons, counts } = await importText(text, PAID);
    expect(counts).toMatchObject({ refused: 2, leftOut: 0 });
    expect(reasons).toEqual([
      "row: has 4 cells, and the header has 3",
      "row: has 1 cells, and the header has 3",
    ]);
  });
});
