import { type Machine, machineLine } from "../report/machine.ts";
import { table } from "../report/table.ts";
import { COUNTERS, type Counter, type Used } from "./counters.ts";
import type { Measured } from "./measure.ts";
import { type RetryActions, retryActions } from "./retry-actions.ts";
import type { Settings } from "./settings.ts";
import { KEPT, type TableName } from "./stored.ts";

/** Everything a run measured: what results/cost-*.json hold. */
export type Results = {
  readonly machine: Machine;
  readonly settings: Settings;
  readonly measured: Measured;
};

const MILLION = 1e6;
const RETENTION_DAYS = 30;
const YEAR_DAYS = 365;
const DONATIONS_A_DAY = [10_000, 100_000, 1_000_000];
const BYTES_PER_GB = 1e9;
const COUNTER_NAMES = Object.keys(COUNTERS) as Counter[]; // it has no other keys
const TABLE_NAMES = Object.keys(KEPT) as TableName[]; // it has no other keys

/** Writes a run as Markdown that also reads well in a terminal. */
export function toMarkdown({ machine, settings, measured }: Results): string {
  const { oneByOne, together, retried } = measured;
  const { accounts } = settings;
  const number = (value: number) => value.toLocaleString("en");
  return [
    "# bench:cost",
    "",
    `${machineLine(machine)}.`,
    `Donations of ${number(accounts)} accounts with one endpoint each: created, paid, told to the endpoint at the first attempt.`,
    `${number(oneByOne.donations)} one after the other, ${number(together.donations)} written 50 at once${retried ? `, ${number(retried.donations)} of which the first attempt fails` : ""}.`,
    "",
    "What one donation costs:",
    "",
    ...table(
      ["", ...Object.values(COUNTERS), "Temporal's actions"],
      [
        usedRow("one by one", oneByOne),
        usedRow("50 at once", together),
        ...(retried ? [usedRow("50 at once, retried once", retried)] : []),
      ],
    ),
    "",
    "What it leaves behind:",
    "",
    ...table(
      ["table", "rows", "bytes", "of indexes", "kept"],
      TABLE_NAMES.map((name) => storedRow(measured, name)),
    ),
    "",
    "What a run in Temporal has cost by the end of each retry:",
    "",
    ...table(["retries", "actions", "history events"], retryActions().map(retryRow)),
    "",
    "A million donations, written 50 at once:",
    "",
    ...table(["", "a million"], millionRows(measured)),
    "",
    `So many a day, deliveries kept for ${RETENTION_DAYS} days:`,
    "",
    ...table(
      [
        "donations a day",
        "GB of deliveries",
        "GB of donations and feed, each year",
        "GB of binary log a day",
      ],
      DONATIONS_A_DAY.map((donations) => steadyRow(measured, donations)),
    ),
    "",
  ].join("\n");
}

function usedRow(label: string, used: Used): string[] {
  const each = (counter: Counter) => used[counter] / used.donations;
  const digits = (counter: Counter) => (each(counter) < 100 ? 2 : 0);
  return [
    label,
    ...COUNTER_NAMES.map((counter) => each(counter).toFixed(digits(counter))),
    (used.actions / used.donations).toFixed(2),
  ];
}

function storedRow({ stored }: Measured, name: TableName): string[] {
  const { rows, data, indexes } = stored[name];
  return [name, rows.toFixed(2), (data + indexes).toFixed(0), indexes.toFixed(0), KEPT[name]];
}

function retryRow({ retries, actions, historyEvents }: RetryActions): string[] {
  return [retries, actions, historyEvents].map(String);
}

function millionRows({ together, stored }: Measured): string[][] {
  const million = (counter: Counter) => (MILLION * together[counter]) / together.donations;
  const count = (counter: Counter) => [
    COUNTERS[counter],
    `${(million(counter) / MILLION).toFixed(2)} million`,
  ];
  const gigabytes = (counter: Counter) => [
    COUNTERS[counter].replace(/^bytes (of )?/, ""),
    `${(million(counter) / BYTES_PER_GB).toFixed(2)} GB`,
  ];
  const rows = TABLE_NAMES.reduce((sum, name) => sum + stored[name].rows, 0);
  return [
    ...(["roundTrips", "statements", "commits"] as const).map(count),
    ["rows", `${rows.toFixed(2)} million`],
    [
      "tables and indexes",
      `${((MILLION * bytesOf(stored, TABLE_NAMES)) / BYTES_PER_GB).toFixed(2)} GB`,
    ],
    ...(["redo", "binaryLog", "toDatabase", "fromDatabase", "toReceiver"] as const).map(gigabytes),
    ["Temporal's actions", ((MILLION * together.actions) / together.donations).toFixed(0)],
  ];
}

function steadyRow({ stored, together }: Measured, donations: number): string[] {
  const gigabytes = (bytes: number) => (bytes / BYTES_PER_GB).toFixed(2);
  const kept = (until: (typeof KEPT)[TableName]) =>
    bytesOf(
      stored,
      TABLE_NAMES.filter((name) => KEPT[name] === until),
    );
  return [
    donations.toLocaleString("en"),
    gigabytes(donations * RETENTION_DAYS * kept("DELIVERY_RETENTION")),
    gigabytes(donations * YEAR_DAYS * kept("always")),
    gigabytes((donations * together.binaryLog) / together.donations),
  ];
}

function bytesOf(stored: Measured["stored"], names: readonly TableName[]): number {
  return names.reduce((sum, name) => sum + stored[name].data + stored[name].indexes, 0);
}
