import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AccountService } from "@activity/proto";
import { Permission } from "@activity/server";
import { describe, expect, it } from "vitest";
import { createAccount, createApiKey } from "../../test/harness/builders.ts";
import { useImporter } from "../../test/harness/import-program.ts";
import { readPage } from "../../test/harness/pages.ts";
import { openDoor } from "../../test/harness/tcp-door.ts";

/** Node's option to print a process's maximum memory, in kilobytes, when it ends. */
const TELL_MEMORY =
  "--import data:text/javascript,process.on('exit',()=>console.error('maxRSS='+process.resourceUsage().maxRSS))";
/** Node's option to begin with a stdout and stderr that cannot be written. */
const FULL_OUTPUT =
  "--import data:text/javascript,import{closeSync,openSync}from'node:fs';for(const[fd]of[[1],[2]]){closeSync(fd);openSync('/dev/null')}";
const SMALL_HEAP = "--max-old-space-size=48 --max-semi-space-size=8";
const MAX_RESIDENT_KB = 300_000;

const { stack, folder, account, writeCsv, runImport } = useImporter();

const countDonations = () =>
  stack.database.value<number>(
    "SELECT COUNT(*) FROM donation WHERE account_no = (SELECT account_no FROM account WHERE id = ?)",
    [account()],
  );

describe("npm run import", () => {
  it("stores what a German export says, so that the feed shows it unchanged", async () => {
    const file = await writeCsv(
      "\ufeffTransaktionscode;Datum;Betrag;Währung;Absender;Nachricht\r\n" +
        'a1;31.01.2024 12:05:59,123456;"1.234,56 €";EUR;Ada 👩‍🚀;"=1+1\r\n""ü"" \0"\r\n' +
        "a2;01.07.2024 12:00;500;JPY;;\r\n",
    );
    const options = ["--source", "import_source_2", "--timezone", "Europe/Berlin"];
    const { exitCode, output } = await runImport([...options, file]);
    expect(output).toContain("2 stored, 0 unchanged, 0 refused");
    expect(exitCode).toBe(0);
    const { text: apiKey } = await createApiKey(stack, account());
    const { data } = await readPage(stack, apiKey);
    const byValue = Object.fromEntries(data.map((activity) => [activity.value, activity]));
    expect(byValue).toMatchObject({
      123456: {
        platform: "import_source_2",
        occurred_at: "2024-01-31T11:05:59.123456Z",
        actor: { name: "Ada 👩‍🚀" },
        message: '=1+1\r\n"ü" \0',
        currency: "eur",
      },
      500: {
        occurred_at: "2024-07-01T10:00:00.000000Z",
        actor: { name: null },
        message: null,
        currency: "jpy",
      },
    });
  });

  it("finds the account by its username, in any case, and imports nothing twice", async () => {
    const stored = await stack.client(AccountService).getAccount({ accountId: account() });
    const username = stored.account?.username.toUpperCase() ?? "";
    const file = await writeCsv(
      `amount,currency,name,date\n${"5.00,EUR,Ada,2024-01-31T12:05:59Z\n".repeat(3)}`,
    );
    const args = ["--account", username, file];
    expect((await runImport(args)).output).toContain("3 stored, 0 unchanged");
    expect(await runImport(args)).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining("0 stored, 3 unchanged"),
    });
    expect(await countDonations()).toBe(3);
  });

  it("imports with a credential of this account only, by its id", async () => {
    const permissions = [Permission.DonationImport, Permission.AccountRead];
    const env = { SERVICE_CREDENTIAL: await stack.credentialOf(account(), ...permissions) };
    const file = await writeCsv("id,amount,currency,date\n1,5,eur,2024-01-31T12:05:59Z\n");
    expect(await runImport([file], env)).toMatchObject({ exitCode: 0 });
    expect(await countDonations()).toBe(1);

    const other = await createAccount(stack);
    for (const name of [other, "somebody"]) {
      const { exitCode, output } = await runImport(["--account", name, file], env);
      expect(output).toContain(`The service credential is for the account ${account()} only`);
      expect(exitCode).toBe(1);
    }
  });

  it("writes refused rows with their reasons to a file that can be corrected and imported", async () => {
    const file = await writeCsv(
      "id;amount;currency;message;date\r\n" +
        "1;5,00;EUR;;2024-01-31T12:05:59Z\r\n" +
        '2;-5,00;EUR;"a;""b""\n=c";2024-01-31T12:05:59Z\r\n' +
        `3;5,00;EUR;${"x".repeat(4001)};2024-01-31T12:05:59Z\r\n` +
        "4;5,00;EUR\r\n",
    );
    const first = await runImport([file]);
    expect(first).toMatchObject({
      exitCode: 2,
      output: expect.stringContaining("1 stored, 0 unchanged, 3 refused"),
    });
    const refusedPath = file.replace(/\.csv$/, ".refused.csv");
    const refused = await readFile(refusedPath, "utf8");
    // Only its owner may read the file, because it holds names and messages of donors.
    expect((await stat(refusedPath)).mode & 0o077).toBe(0);
    expect(refused).toMatch(/^reason;line;id;amount;currency;message;date\r\n/);
    expect(refused).toMatch(/^"?amount: negative[^\n]*;3;2;-5,00;EUR;"a;""b""\n=c";2024/m);
    expect(refused).toMatch(/^message accepts [^;]*;5;3;5,00/m);
    expect(refused).toMatch(/^row: has 3 cells[^;]*;6;4;5,00;EUR\r\n/m);

    const corrected = refused
      .replace("-5,00", "5,00")
      .replace("x".repeat(4001), "x")
      .replace("4;5,00;EUR\r", "4;5,00;EUR;;2024-01-31T12:05:59Z\r");
    await writeFile(refusedPath, corrected);
    expect(await runImport([refusedPath])).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining("3 stored, 0 unchanged, 0 refused"),
    });
    // The corrections are not overwritten when the first file is imported again.
    await runImport([file]);
    expect(await readFile(refusedPath, "utf8")).toBe(corrected);
    expect(await countDonations()).toBe(4);
  });

  it("ends at once if rows that the core refused cannot be written", async () => {
    const row = (message: string) => `5,EUR,${message},2024-01-31T12:05:59Z\n`;
    const rows = row("x".repeat(4001)) + row("x").repeat(20_000);
    // With this name, the name of the file of refused rows would be too long.
    const file = join(folder, `${"x".repeat(250)}.csv`);
    await writeFile(file, `amount,currency,message,date\n${rows}`);
    // A call that does not end would keep the process alive beyond the test's time limit.
    const { exitCode, output } = await runImport([file]);
    expect(output).toMatch(/cannot be made .*: name another with --refused\.\n$/);
    // The summary counts the rows that the core answered for.
    expect(output).toContain("999 stored, 0 unchanged, 1 refused");
    expect(exitCode).toBe(1);
  });

  it("stores nothing if the file of --refused cannot be created", async () => {
    const file = await writeCsv("id,amount,currency,date\n1,5,EUR,2024-01-31T12:05:59Z\n");
    const refused = ["--refused", join(folder, "missing", "refused.csv")];
    const { exitCode, output } = await runImport([...refused, file]);
    expect(output).toMatch(/cannot be made .*: name another with --refused\.\n$/);
    expect(exitCode).toBe(1);
    expect(await countDonations()).toBe(0);
  });

  it("stores a corrected row without an id that equals a stored row, once", async () => {
    const good = "5.00,eur,Ada,2024-01-31T12:05:59Z\n";
    const file = await writeCsv(`amount,currency,name,date\n${good}-${good}`);
    const first = await runImport([file]);
    expect(first.output).toContain("1 stored, 0 unchanged, 1 refused");
    const refusedPath = file.replace(/\.csv$/, ".refused.csv");
    const refused = await readFile(refusedPath, "utf8");
    await writeFile(refusedPath, refused.replace("-5.00", "5.00"));
    const args = [refusedPath];
    expect((await runImport(args)).output).toContain("1 stored, 0 unchanged, 0 refused");
    expect((await runImport(args)).output).toContain("0 stored, 1 unchanged, 0 refused");
    expect(await countDonations()).toBe(2);
  });

  it("refuses rows with the id of a stored donation that says something else", async () => {
    const [ada, bob] = ["x,5,eur,2024-01-31T12:05:59Z\n", "x,6,eur,2024-01-31T12:05:59Z\n"];
    const file = await writeCsv(`id,amount,currency,date\n${ada}${bob}${ada}${bob}`);
    expect(await runImport([file])).toMatchObject({
      exitCode: 2,
      output: expect.stringContaining("1 stored, 1 unchanged, 2 refused"),
    });
    const refused = file.replace(/csv$/, "refused.csv");
    const uncorrected = await runImport([refused]);
    expect(uncorrected.output).toContain("0 stored, 0 unchanged, 2 refused");
    const args = ["--column", "id=", refused];
    expect((await runImport(args)).output).toContain("2 stored, 0 unchanged, 0 refused");
    expect((await runImport(args)).output).toContain("0 stored, 2 unchanged, 0 refused");
  });

  it("lets the other amounts decide what 1,234 means", async () => {
    const row = (id: number, amount: string) => `${id};${amount};2024-01-31T12:05:59Z\n`;
    const file = await writeCsv(`id;amount;date\n${row(1, "1.234")}${row(2, "5,00")}`);
    const args = ["--currency", "eur"];
    expect((await runImport([...args, file])).exitCode).toBe(0);
    const undecided = await writeCsv(`id;amount;date\n${row(3, "1.234")}${row(4, "5")}`);
    expect(await runImport([...args, undecided])).toMatchObject({
      exitCode: 2,
      output: expect.stringContaining("--decimal"),
    });
  });

  it.each([
    ['2,"5,eur', /ends inside a quoted cell of the row that begins on line 3/],
    ['2,"5"5,eur', /Line 3 has text behind a closing quote/],
  ])(
    "stores what lies before a row that cannot be read, and names the line: %s",
    async (row, sentence) => {
      const file = await writeCsv(
        `id,amount,currency,date\n1,5,eur,2024-01-31T12:05:59Z\n${row},2024-01-31T12:05:59Z\n`,
      );
      const { exitCode, output } = await runImport([file]);
      expect(output).toMatch(sentence);
      expect(exitCode).toBe(1);
      expect(await countDonations()).toBe(1);
    },
  );

  const twoPieces = Buffer.from(`amount,date${"\n".repeat(262_132)}\xc3\xa4\n\xe4,`, "latin1");
  it.each<[string, Buffer, RegExp]>([
    ["UTF-16", Buffer.from("\ufeffid,amount,date\n", "utf16le"), /UTF-16 and must be UTF-8/],
    ["Latin-1", Buffer.from("id,amount,währung\n1,2,3\n", "latin1"), /is not UTF-8 \(line 1/],
    ["a bad first byte", Buffer.from("\x80,a\n1,2\n\xfc", "latin1"), /is not UTF-8 \(line 1 /],
    ["a character in two pieces", twoPieces, /is not UTF-8 \(line 262134 /],
    ["two bad lines", Buffer.from("\xe4,amount\n1,2\n\xfc", "latin1"), /is not UTF-8 \(line 1 /],
    ["nothing", Buffer.alloc(0), /has no header line/],
    ["inches in its header", Buffer.from('a,12" disc,b\n1,2,3\n'), /"a", "12" disc", "b"\. Needed/],
    ["an open quote in its header", Buffer.from('a,"b\n1,2\n'), /inside a quoted cell .* line 1:/],
    ["unknown columns", Buffer.from("a,b\n1,2\n"), /"a", "b"\. Needed are an amount and a date/],
    ["controls in its header", Buffer.from("a,\u001b\u009b\n"), /"a", "\\u001b\\u009b"\. Needed/],
  ])("says what a file with %s needs", async (_name, bytes, sentence) => {
    const file = await writeCsv(bytes);
    const { exitCode, output } = await runImport([file]);
    expect(output).toMatch(sentence);
    expect(exitCode).toBe(1);
  });

  it("shows no control characters of a header, which could change the terminal", async () => {
    const file = await writeCsv("id,amount,currency,date,\u001b[2J\n");
    const { exitCode, output } = await runImport([file]);
    expect(output).toContain('; not used: "\\u001b[2J".\n');
    expect(exitCode).toBe(0);
  });

  it("says in a sentence what is wrong with path, account, credential or core", async () => {
    const file = await writeCsv("id,amount,currency,date\n1,5,eur,2024-01-31T12:05:59Z\n");
    const args = [file];
    const unable = await stack.credential(Permission.AccountRead);
    const outcomes = await Promise.all([
      runImport([join(file, "x.csv")]),
      runImport(["x".repeat(300)]),
      runImport(["--account", "nobody", file]),
      runImport(args, { SERVICE_CREDENTIAL: "" }),
      runImport(args, { SERVICE_CREDENTIAL: "x" }),
      runImport(args, { SERVICE_CREDENTIAL: unable }),
      runImport(args, { CORE_URL: "http://127.0.0.1:1" }),
    ]);
    const sentences = [
      "cannot be opened (ENOTDIR)",
      "cannot be opened (ENAMETOOLONG)",
      "has no account",
      "Set SERVICE_CREDENTIAL",
      "does not accept",
      "permission",
      "npm start",
    ];
    expect(outcomes).toEqual(
      sentences.map((sentence) => ({ exitCode: 1, output: expect.stringContaining(sentence) })),
    );
  });

  it("says that the core is away when its connection breaks, and to import again", async () => {
    const row = (_: unknown, place: number) => `r${place},5,EUR,2024-01-31T12:05:59Z\n`;
    const rows = Array.from({ length: 100_000 }, row);
    const file = await writeCsv(`id,amount,currency,date\n${rows.join("")}`);
    const door = await openDoor(stack.corePort);
    const CORE_URL = `http://127.0.0.1:${door.port}`;
    const running = runImport([file], { CORE_URL });
    await expect.poll(countDonations).toBeGreaterThan(0);
    door.close();
    expect(await running).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/does not answer .* Then import again/),
    });
  });

  it("imports every row although its output cannot be written", async () => {
    const file = await writeCsv("id,amount,currency,date\n1,5,eur,2024-01-31T12:05:59Z\n");
    expect(await runImport([file], { NODE_OPTIONS: FULL_OUTPUT })).toEqual({
      exitCode: 0,
      output: "",
    });
    expect(await countDonations()).toBe(1);
  });

  it("imports 100,000 rows, 20 MB, with a heap of 48 MB", async () => {
    const message = "message ".repeat(22);
    const rows = Array.from(
      { length: 100_000 },
      (_, place) => `r${place},${place}.50,EUR,Ada,${message},2024-01-31 12:05\n`,
    );
    const file = await writeCsv(`id,amount,currency,name,message,date\n${rows.join("")}`);
    const env = { NODE_OPTIONS: `${SMALL_HEAP} ${TELL_MEMORY}` };
    const { exitCode, output } = await runImport(["--timezone", "UTC", file], env);
    expect(output).toContain("100,000 stored, 0 unchanged, 0 refused");
    expect(exitCode).toBe(0);
    expect(Number(/maxRSS=(\d+)/.exec(output)?.[1])).toBeLessThan(MAX_RESIDENT_KB);
  });
});
