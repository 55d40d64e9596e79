import { parseArgs } from "node:util";
import { Platform } from "@activity/proto";
import { type ColumnOverrides, ColumnRole, isColumnRole } from "./columns.ts";
import { findExponent } from "./currency.ts";
import type { DateOrder } from "./date-text.ts";
import { ImportError } from "./import-error.ts";
import type { DecimalMark } from "./number-text.ts";
import type { OnlyOption } from "./row-filter.ts";
import { createTimeZone, type TimeZone } from "./time-zone.ts";

/** The options of the command line. */
export type ImportOptions = {
  readonly path: string;
  readonly account: string;
  readonly platform: Platform;
  readonly timeZone: TimeZone | undefined;
  readonly currency: string | undefined;
  readonly decimalMark: DecimalMark | undefined;
  readonly dateOrder: DateOrder | undefined;
  readonly columns: ColumnOverrides;
  readonly only: readonly OnlyOption[];
  readonly refusedPath: string | undefined;
};

const PLATFORMS: ReadonlyMap<string, Platform> = new Map([
  ["csv", Platform.CSV],
  ["import_source_1", Platform.IMPORT_SOURCE_1],
  ["import_source_2", Platform.IMPORT_SOURCE_2],
  ["import_source_3", Platform.IMPORT_SOURCE_3],
  ["import_source_4", Platform.IMPORT_SOURCE_4],
]);
const DECIMAL_MARKS: readonly DecimalMark[] = ["comma", "point"];
const DATE_ORDERS: readonly DateOrder[] = ["dmy", "mdy"];
const TEXT = { type: "string" } as const;
const TEXTS = { type: "string", multiple: true } as const;
/** The options, in the order of the help. */
export const OPTIONS = {
  account: TEXT,
  source: TEXT,
  timezone: TEXT,
  currency: TEXT,
  decimal: TEXT,
  dates: TEXT,
  column: TEXTS,
  only: TEXTS,
  refused: TEXT,
  help: { type: "boolean", short: "h" },
} as const;
const SEE_HELP = "npm run import -- --help shows all options.";

/** Reads the command line. Returns `undefined` if it asks for help. Throws an ImportError. */
export function parseOptions(argv: readonly string[]): ImportOptions | undefined {
  const { values, positionals } = parseCommandLine(argv);
  if (values.help) return undefined;
  const [path, ...others] = positionals;
  if (path === undefined || others.length > 0) {
    throw new ImportError(`Name exactly one CSV file. ${SEE_HELP}`);
  }
  if (!values.account) {
    throw new ImportError(`Name the account with --account NAME. ${SEE_HELP}`);
  }
  return {
    path,
    account: values.account,
    platform: parsePlatform(values.source ?? "csv"),
    timeZone: values.timezone === undefined ? undefined : parseTimeZone(values.timezone),
    currency: values.currency === undefined ? undefined : parseCurrency(values.currency),
    decimalMark: parseChoice("--decimal", values.decimal, DECIMAL_MARKS),
    dateOrder: parseChoice("--dates", values.dates, DATE_ORDERS),
    columns: Object.fromEntries((values.column ?? []).map(parseColumn)),
    only: (values.only ?? []).map(parseOnly),
    refusedPath: parseNewFile("--refused", values.refused),
  };
}

function parseCommandLine(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [problem = ""] = message.split(/\. |\.?\n/);
    throw new ImportError(`${problem}. ${SEE_HELP}`, { cause: error });
  }
}

function parsePlatform(source: string): Platform {
  const platform = PLATFORMS.get(source);
  if (platform !== undefined) return platform;
  throw new ImportError(`--source accepts ${[...PLATFORMS.keys()].join(", ")}.`);
}

function parseTimeZone(name: string): TimeZone {
  const timeZone = createTimeZone(name);
  if (timeZone !== undefined) return timeZone;
  throw new ImportError("--timezone accepts an IANA name, such as Europe/Berlin or UTC.");
}

function parseCurrency(code: string): string {
  const currency = code.toLowerCase();
  if (findExponent(currency) !== undefined) return currency;
  throw new ImportError("--currency accepts a code of ISO 4217, such as eur.");
}

function parseChoice<Choice extends string>(
  option: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((one) => one === text);
  if (text === undefined || choice !== undefined) return choice;
  throw new ImportError(`${option} accepts ${choices.join(" or ")}.`);
}

function parseNewFile(option: string, path: string | undefined): string | undefined {
  if (path !== "") return path;
  throw new ImportError(`${option} accepts the path of a new file.`);
}

function parseColumn(text: string): [ColumnRole, string] {
  const [role = "", ...name] = text.split("=");
  if (isColumnRole(role) && name.length > 0) return [role, name.join("=")];
  throw new ImportError(
    `--column accepts ROLE="Header name", where ROLE is ${Object.values(ColumnRole).join(", ")}.`,
  );
}

function parseOnly(text: string): OnlyOption {
  const [column = "", ...value] = text.split("=");
  if (column.trim() !== "" && value.length > 0) return { column, value: value.join("=") };
  throw new ImportError('--only accepts "COLUMN=VALUE", such as "Status=Paid".');
}
