import { type Column, grouped, table } from "../report/table.ts";
import { EXPONENTS, SHARDS, type Simulation } from "./simulate.ts";

/** Writes what the simulation tells: docs/scale.md has these tables, or figures of them in a sentence. */
export function tablesOf(simulation: Simulation) {
  const text = (lines: readonly string[]) => lines.join("\n");
  return {
    shards: text(shardTable(simulation)),
    dead: text(deadTable(simulation)),
    outages: text(outageTable(simulation)),
    bursts: text(burstTable(simulation)),
  };
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const seconds = (value: number) => `${value.toFixed(1)} s`;

function shardTable({ accounts, skews }: Simulation): string[] {
  const alone = [
    "the largest account alone",
    "",
    "",
    ...skews.map((skew) => percent(skew.largest)),
  ];
  const rows = SHARDS.map((shards, place) => [
    ...[String(shards), percent(1 / shards), percent(accounts[place] ?? 0)],
    ...skews.map(({ fullest }) => percent(fullest[place] ?? 0)),
  ]);
  const events = EXPONENTS.map((exponent) => `events, 1/n^${exponent}`);
  const columns = ["shards", "even", "accounts", ...events].map(
    (title, place): Column<string[]> => [title, (row) => row[place] ?? ""],
  );
  return table([alone, ...rows], columns);
}

function deadTable({ dead }: Simulation): string[] {
  return table(dead, [
    ["events to endpoints that never answer", ({ share }) => percent(share)],
    ["asleep", ({ asleep }) => grouped(asleep)],
    [
      "due at once after an hour of Temporal",
      ({ temporalBack }) => grouped(temporalBack.dueAtOnce),
    ],
  ]);
}

function outageTable({ outages }: Simulation): string[] {
  return table(outages, [
    ["all attempts fail for", ({ minutes }) => `${minutes} minutes`],
    ["asleep at its end", ({ asleep }) => grouped(asleep)],
    ["due in the busiest second behind it", ({ duePeak }) => grouped(duePeak)],
  ]);
}

function burstTable({ bursts }: Simulation): string[] {
  return table(bursts, [
    ["accounts with 100,000 events at once", ({ hotAccounts }) => grouped(hotAccounts)],
    ["others wait, p50", ({ delays }) => seconds(delays.p50)],
    ["p99", ({ delays }) => seconds(delays.p99)],
    ["longest", ({ delays }) => seconds(delays.longest)],
    ["in order", ({ inOrder }) => seconds(inOrder)],
  ]);
}
