import { Platform } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { HELP } from "./help.ts";
import { OPTIONS, parseOptions } from "./options.ts";

const NEEDED = ["--account", "ada", "file.csv"];

describe("the command line of an import", () => {
  it("needs an account and one file", () => {
    expect(parseOptions(NEEDED)).toMatchObject({
      account: "ada",
      path: "file.csv",
      platform: Platform.CSV,
      timeZone: undefined,
    });
    expect(() => parseOptions(["file.csv"])).toThrow(/--account/);
    expect(() => parseOptions(["--account", "ada"])).toThrow(/one CSV file/);
    expect(() => parseOptions([...NEEDED, "other.csv"])).toThrow(/one CSV file/);
    expect(() => parseOptions(["--account", "--source"])).toThrow(/ambiguous\. [^']+$/);
  });

  it("takes options", () => {
    const options = parseOptions([
      ...NEEDED,
      ...["--source", "import_source_4", "--currency", "EUR", "--decimal", "comma"],
      ...["--dates", "mdy", "--column", "amount=a=b", "--column", "id=", "--refused", "r.csv"],
      ...["--only", "Status=Paid", "--only", "Fee=a=b"],
    ]);
    expect(options).toMatchObject({
      platform: Platform.IMPORT_SOURCE_4,
      currency: "eur",
      decimalMark: "comma",
      dateOrder: "mdy",
      columns: { amount: "a=b", id: "" },
      refusedPath: "r.csv",
      only: [
        { column: "Status", value: "Paid" },
        { column: "Fee", value: "a=b" },
      ],
    });
  });

  it.each([
    ["--source", "service"],
    ["--timezone", "Europe/Atlantis"],
    ["--currency", "xyz"],
    ["--decimal", ","],
    ["--dates", "ymd"],
    ["--column", "colour=red"],
    ["--only", "Status"],
    ["--only", " =Paid"],
    ["--refused", ""],
  ])("refuses %s %s and says what it accepts", (option, text) => {
    expect(() => parseOptions([...NEEDED, option, text])).toThrow(`${option} accepts`);
  });

  it("refuses options it does not have, and options without a value", () => {
    expect(() => parseOptions([...NEEDED, "--colour", "red"])).toThrow(/--colour.*--help/);
    expect(() => parseOptions([...NEEDED, "--source"])).toThrow(/--source.*--help/);
  });

  it("has every option in its help", () => {
    expect(parseOptions(["--help"])).toBeUndefined();
    const shown = [...HELP.matchAll(/^ {2}(?:-(\w), )?--(\w+) /gm)];
    expect(shown.map(([, short, name]) => [name, short])).toEqual(
      Object.entries(OPTIONS).map(([name, option]) => [
        name,
        "short" in option ? option.short : undefined,
      ]),
    );
  });
});
