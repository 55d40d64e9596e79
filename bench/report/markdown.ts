import { SideName } from "../sides/side.ts";
import { goalsOf } from "./goals.ts";
import { machineLine } from "./machine.ts";
import { type Results, ratio, type SideResult } from "./results.ts";
import { GOAL_HEAD, goalRow, table } from "./table.ts";

/** Writes a run as Markdown that also reads well in a terminal. */
export function toMarkdown(results: Results): string {
  const { machine, settings } = results;
  return [
    "# bench:read",
    "",
    `${machineLine(machine)}.`,
    `Data: ${settings.data}. Closed loop, ${settings.concurrency} connections; ${settings.rounds} rounds of ${settings.secondsARound} s a side, in turn; medians. Load, servers and database share the machine.`,
    ...(settings.profiled ? ["The profiler was on: these are no figures to quote."] : []),
    "",
    ...table(SIDE_HEAD, results.sides.map(sideRow)),
    "",
    ...table(RATIO_HEAD, ratioRows(results.sides)),
    "",
    ...table(HISTORY_HEAD, results.history.map(historyRow)),
    "",
    ...table(GOAL_HEAD, goalsOf(results).map(goalRow)),
    "",
  ].join("\n");
}

const SIDE_HEAD = [
  "",
  "requests/s",
  "p50 ms",
  "p99 ms",
  "CPU s per 1,000",
  "database's",
  "load's",
  "peak RSS MB",
];

function sideRow(side: SideResult): string[] {
  return [
    side.label,
    side.requestsPerSecond.toFixed(0),
    side.p50Ms.toFixed(2),
    side.p99Ms.toFixed(2),
    side.cpuPer1000.toFixed(3),
    side.databaseCpuPer1000.toFixed(3),
    side.loadCpuPer1000.toFixed(3),
    side.peakMemoryMb.map((memory) => memory.toFixed(0)).join(" + "),
  ];
}

const RATIO_HEAD = [
  "ratio of rates, round by round",
  "to Fastify",
  "to Fastify, Redis",
  "to the bare query",
];

function ratioRows(sides: readonly SideResult[]): string[][] {
  const references = [SideName.Fastify, SideName.FastifyRedis, SideName.BareQuery].map((name) =>
    sides.find((side) => side.name === name),
  );
  return sides.map((side) => [
    side.label,
    ...references.map((reference) =>
      reference === undefined
        ? "-"
        : ratio(side, reference, (round) => round.requestsPerSecond).toFixed(2),
    ),
  ]);
}

const HISTORY_HEAD = [
  "long history",
  "first page ms",
  "middle ms",
  "last ms",
  "last / first",
  "read whole, records/s",
];

function historyRow(history: Results["history"][number]): string[] {
  const { order, firstMs, middleMs, lastMs, walk } = history;
  return [
    order,
    firstMs.toFixed(2),
    middleMs.toFixed(2),
    lastMs.toFixed(2),
    (lastMs / firstMs).toFixed(2),
    (walk.activities / walk.seconds).toFixed(0),
  ];
}
