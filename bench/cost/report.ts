import type { Figures } from "../measure/figures.ts";
import { type Column, grouped, table } from "../report/table.ts";
import { COUNTERS, type CounterName } from "./counters.ts";
import type { Costs } from "./donations.ts";
import { retryActions } from "./retry-actions.ts";
import { KEPT, sumStored, TABLES, type TableName } from "./stored.ts";

const COUNTER_NAMES = Object.keys(COUNTERS) as CounterName[]; // it has no other keys
const RETENTION_DAYS = 30;
const YEAR_DAYS = 365;
const DONATIONS_A_DAY = [10_000, 100_000, 1_000_000];
const [MILLION, BYTES_PER_GB] = [1e6, 1e9];

/** Writes what donations cost, and what that comes to. */
export function costBlocks(costs: Costs): string[][] {
  const retries = table(retryActions(), [
    ["retries", ({ retries }) => retries, 0],
    ["actions", ({ actions }) => actions, 0],
    ["history events", ({ historyEvents }) => historyEvents, 0],
  ]);
  return [
    ...[["What one donation costs:"], usedTable(costs)],
    ...[["What it leaves behind:"], storedTable(costs.together)],
    ...[["What a run in Temporal has cost by the end of each retry:"], retries],
    ...[["A million donations, written 50 at once:"], millionTable(costs.together)],
    [`So many a day, deliveries kept for ${RETENTION_DAYS} days:`],
    dailyTable(costs.together),
  ];
}

function usedTable({ oneByOne, together, retried }: Costs): string[] {
  type Row = readonly [label: string, used: Figures];
  const again: Row[] = retried ? [["50 at once, retried once", retried]] : [];
  const rows: Row[] = [["one by one", oneByOne], ["50 at once", together], ...again];
  return table(rows, [
    ["", ([label]) => label],
    ...COUNTER_NAMES.map((name): Column<Row> => {
      return [COUNTERS[name], ([, { [name]: each = 0 }]) => each.toFixed(each < 100 ? 2 : 0)];
    }),
    ["Temporal's actions", ([, { actions = 0 }]) => actions, 2],
  ]);
}

function storedTable(together: Figures): string[] {
  const of = (what: Parameters<typeof sumStored>[1]) => (name: TableName) =>
    sumStored(together, what, [name]);
  return table(TABLES, [
    ["table", (name) => name],
    ["rows", of("rows"), 2],
    ["bytes", of("bytes"), 0],
    ["of indexes", of("index bytes"), 0],
    ["kept", (name) => KEPT[name]],
  ]);
}

function millionTable(together: Figures): string[] {
  const gigabytes = (bytes = 0) => `${((MILLION * bytes) / BYTES_PER_GB).toFixed(2)} GB`;
  const millions = (each = 0) => `${each.toFixed(2)} million`;
  const count = (name: CounterName) => [COUNTERS[name], millions(together[name])];
  const bytes = (name: CounterName) => {
    return [COUNTERS[name].replace(/^bytes (of )?/, ""), gigabytes(together[name])];
  };
  const rows = [
    ...[count("roundTrips"), count("statements"), count("commits")],
    ["rows", millions(sumStored(together, "rows"))],
    ["tables and indexes", gigabytes(sumStored(together, "bytes"))],
    ...[bytes("redo"), bytes("binaryLog"), bytes("toDatabase"), bytes("fromDatabase")],
    ...[bytes("toReceiver"), ["Temporal's actions", `${MILLION * (together.actions ?? 0)}`]],
  ];
  return table(rows, [
    ["", ([what = ""]) => what],
    ["a million", ([, amount = ""]) => amount],
  ]);
}

function dailyTable(together: Figures): string[] {
  const kept = (until: string) => TABLES.filter((name) => KEPT[name] === until);
  const gigabytes = (until: string) => sumStored(together, "bytes", kept(until)) / BYTES_PER_GB;
  const [deliveries, always] = [gigabytes("DELIVERY_RETENTION"), gigabytes("always")];
  const log = (together.binaryLog ?? 0) / BYTES_PER_GB;
  return table(DONATIONS_A_DAY, [
    ["donations a day", grouped],
    ["GB of deliveries", (donations) => donations * RETENTION_DAYS * deliveries, 2],
    ["GB of donations and feed, each year", (donations) => donations * YEAR_DAYS * always, 2],
    ["GB of binary log a day", (donations) => donations * log, 2],
  ]);
}
