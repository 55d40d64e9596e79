import { describe, expect, it } from "vitest";
import { createApiKey } from "../../test/harness/builders.ts";
import { useImporter } from "../../test/harness/import-program.ts";
import { readPage } from "../../test/harness/pages.ts";

const { stack, account, writeCsv, runImport } = useImporter();

const importCsv = async (text: string, ...options: string[]) =>
  runImport([...options, await writeCsv(text)]);

async function storedTimes(): Promise<string[]> {
  const { text: apiKey } = await createApiKey(stack, account());
  const { data } = await readPage(stack, apiKey, "?order=asc");
  return data.map(({ occurred_at }) => occurred_at);
}

describe("an export of Stripe", () => {
  const TEXT =
    "id,Created date (UTC),Amount,Currency,Description,Status\n" +
    "ch_1,2024-01-31 12:05:59,5.00,usd,,Paid\n" +
    "ch_2,2024-01-31 12:06:59,5.00,usd,,Failed\n" +
    "ch_3,2024-01-31 12:07:59,5.00,usd,,Refunded\n" +
    "ch_4,2024-01-31 12:08:59,-5.00,usd,,Refunded\n";

  it("brings only paid donations, at their times in UTC, and shows which columns are not used", async () => {
    const options = ["--only", "status=paid", "--timezone", "Europe/Berlin"];
    const { exitCode, output } = await importCsv(TEXT, ...options);
    expect(output).toContain('; not used: "Description".');
    expect(output).toContain("--timezone is not used");
    expect(output).toContain("4 rows in");
    expect(output).toContain("1 stored, 0 unchanged, 0 refused, 3 left out by --only.");
    expect(exitCode).toBe(0);
    expect(await storedTimes()).toEqual(["2024-01-31T12:05:59.000000Z"]);
  });

  it("is not imported if it lacks the column of --only", async () => {
    const { exitCode, output } = await importCsv(TEXT, "--only", "State=Paid");
    expect(output).toMatch(/^--only "State=Paid": the file has no such column\. Its columns are: /);
    expect(exitCode).toBe(1);
    expect(await storedTimes()).toEqual([]);
  });
});

it("--only changes no id of an export without ids, and refuses rows with a wrong number of cells", async () => {
  const row = (status: string) => `${status},5 EUR,2024-01-31T12:05:59Z\n`;
  const rows = ["Failed", "Paid", "Refunded", "Paid"].map(row).join("");
  // In a row with too many or too few cells, the status may be in another cell.
  const text = `status,amount,date\n${rows}Refunded,5 EUR\n,Paid,5 EUR,2024-01-31T12:05:59Z\n`;
  const paid = await importCsv(text, "--only", "Status=Paid");
  expect(paid.output).toContain("2 stored, 0 unchanged, 2 refused, 2 left out by --only.");
  const refunded = await importCsv(text, "--only", "Status=Refunded");
  expect(refunded.output).toContain("1 stored, 0 unchanged, 2 refused, 3 left out by --only.");
});

it("an export without ids that lacked an option is stored once, as the summary advises", async () => {
  const january = "date,amount\n2024-01-31 12:05,5.00 €\n2024-01-31T12:06Z,5.00 €\n";
  const first = await importCsv(january);
  expect(first.output).toContain("1 stored, 0 unchanged, 1 refused");
  expect(first.output).toMatch(/Import the same file again with all options of this import/);
  const zone = ["--timezone", "Europe/Berlin"];
  const again = await importCsv(january, ...zone);
  expect(again.output).toContain("1 stored, 1 unchanged, 0 refused");
  const longer = await importCsv(`${january}2024-02-01 12:05,5.00 €\n`, ...zone);
  expect(longer.output).toContain("1 stored, 2 unchanged, 0 refused");
});
