import { Workload } from "../load/workload.ts";
import { SideName } from "../sides/side.ts";
import { goalsOf } from "./goals.ts";
import { machineLine } from "./machine.ts";
import { type Results, ratio, type SideResult, type WorkloadResult } from "./results.ts";
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
    ...results.workloads.flatMap(workloadLines),
    ...table(HISTORY_HEAD, results.history.map(historyRow)),
    "",
    ...table(GOAL_HEAD, goalsOf(results).map(goalRow)),
    "",
  ].join("\n");
}

const WORKLOADS: Readonly<Record<Workload, string>> = {
  [Workload.Polls]: "each account polls the end of its feed, one record comes for a hundred polls",
  [Workload.FirstPages]: "the first page of each account, over and over",
  [Workload.ColdPages]: "pages of which none is asked for twice",
};

function workloadLines({ name, sides }: WorkloadResult): string[] {
  const floor = sumOfFloors(sides);
  return [
    `## ${name}: ${WORKLOADS[name]}`,
    "",
    ...table(
      SIDE_HEAD,
      sides.map((side) => sideRow(side, sides)),
    ),
    "",
    ...(floor === undefined
      ? []
      : [
          `Sum of floors: ${floor.toFixed(3)} s of CPU for 1,000 (a bare answer, the bare query, their load).`,
          "",
        ]),
  ];
}

/** What no product on Node and this database can be below: it answers, and its query is asked. */
function sumOfFloors(sides: readonly SideResult[]): number | undefined {
  const floors = sides.filter(
    ({ name }) => name === SideName.BareHttp || name === SideName.BareQuery,
  );
  return floors.length < 2 ? undefined : floors.reduce((sum, side) => sum + wholeCpu(side), 0);
}

function wholeCpu({ cpuPer1000, databaseCpuPer1000, loadCpuPer1000 }: SideResult): number {
  return cpuPer1000 + databaseCpuPer1000 + loadCpuPer1000;
}

const SIDE_HEAD = [
  "",
  "requests/s",
  "to Fastify",
  "to Fastify, Redis",
  "p50 ms",
  "p99 ms",
  "CPU s per 1,000",
  "database's",
  "load's",
  "all",
  "peak RSS MB",
];

function sideRow(side: SideResult, sides: readonly SideResult[]): string[] {
  const to = (name: SideName) => {
    const reference = sides.find((each) => each.name === name);
    if (reference === undefined) return "-";
    return ratio(side, reference, (round) => round.requestsPerSecond).toFixed(2);
  };
  return [
    side.label,
    side.requestsPerSecond.toFixed(0),
    to(SideName.Fastify),
    to(SideName.FastifyRedis),
    side.p50Ms.toFixed(2),
    side.p99Ms.toFixed(2),
    side.cpuPer1000.toFixed(3),
    side.databaseCpuPer1000.toFixed(3),
    side.loadCpuPer1000.toFixed(3),
    wholeCpu(side).toFixed(3),
    side.peakMemoryMb.map((memory) => memory.toFixed(0)).join(" + "),
  ];
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
