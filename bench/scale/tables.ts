import { table } from "../report/table.ts";
import { EXPONENTS, SHARDS, type Simulation } from "./simulate.ts";

/** Writes what the simulation tells as the tables of docs/scale.md. */
export function tablesOf(simulation: Simulation): string[] {
  return [shardTable, deadTable, outageTable, burstTable].map((write) =>
    write(simulation).join("\n"),
  );
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const number = (value: number) => value.toLocaleString("en");
const seconds = (value: number) => `${value.toFixed(1)} s`;

function shardTable({ accounts, skews }: Simulation): string[] {
  return table(
    ["shards", "even", "accounts", ...EXPONENTS.map((exponent) => `events, 1/n^${exponent}`)],
    [
      ["the largest account alone", "", "", ...skews.map(({ largest }) => percent(largest))],
      ...SHARDS.map((shards, place) => [
        String(shards),
        percent(1 / shards),
        percent(accounts[place] ?? 0),
        ...skews.map(({ fullest }) => percent(fullest[place] ?? 0)),
      ]),
    ],
  );
}

function deadTable({ dead }: Simulation): string[] {
  return table(
    ["events to endpoints that never answer", "asleep", "due at once after an hour of Temporal"],
    dead.map(({ share, asleep, temporalBack }) => [
      percent(share),
      number(asleep),
      number(temporalBack.dueAtOnce),
    ]),
  );
}

function outageTable({ outages }: Simulation): string[] {
  return table(
    ["all attempts fail for", "asleep at its end", "due in the busiest second behind it"],
    outages.map(({ minutes, asleep, duePeak }) => [
      `${minutes} minutes`,
      number(asleep),
      number(duePeak),
    ]),
  );
}

function burstTable({ bursts }: Simulation): string[] {
  return table(
    ["accounts with 100,000 events at once", "others wait, p50", "p99", "longest", "in order"],
    bursts.map(({ hotAccounts, delays, inOrder }) => [
      number(hotAccounts),
      seconds(delays.p50),
      seconds(delays.p99),
      seconds(delays.longest),
      seconds(inOrder),
    ]),
  );
}
