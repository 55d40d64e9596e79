import { atLeast, atMost, type Goal } from "../report/goal.ts";
import { type Figure, medianOf, type Run, ratioOf, sumOf, valuesOf } from "../report/runs.ts";
import { table } from "../report/table.ts";
import { labelOf } from "./sides.ts";

/**
 * The workloads, and the goals for the product's rate as a multiple of Fastify's. `together`: one process. `redis`: one
 * process, and both programs count in Redis. `apart`: two processes.
 */
const WORKLOADS = {
  polls: {
    about: "each account polls the end of its feed, one record comes for a hundred polls",
    ...{ together: 3, redis: 2.2, apart: 1.3 },
  },
  "first-pages": {
    about: "the first page of each account, over and over",
    ...{ together: 2.3, redis: 2.3, apart: undefined },
  },
  "cold-pages": {
    about: "pages of which none is asked for twice",
    ...{ together: 2.5, redis: 1.4, apart: 1.6 },
  },
};
export type Workload = keyof typeof WORKLOADS;
export const WORKLOAD_NAMES = Object.keys(WORKLOADS) as readonly Workload[]; // its keys are the workloads

const MEMORY_MB = 200;
/** The goal for a cold page: the CPU time of all processes. */
const COLD_CPU_MS = 0.55;

const wholeCpu = sumOf("cpu side", "cpu database", "cpu Redis", "cpu load");

/** Returns the heading and the table of one workload. */
export function workloadBlocks(runs: readonly Run[], load: Workload, sides: readonly string[]) {
  const of = (figure: Figure) => (side: string) => medianOf(runs, { side, load }, figure);
  const to = (other: string) => (side: string) =>
    ratioOf(runs, { side, load }, { side: other, load });
  // Milliseconds per request equal seconds per thousand.
  const rows = table(sides, [
    ["", labelOf],
    ["requests/s", of("perSecond"), 0],
    ["to Fastify", to("fastify"), 2],
    ["to Fastify, Redis", to("fastify-redis"), 2],
    ["p50 ms", of("p50Ms"), 2],
    ["p99 ms", of("p99Ms"), 2],
    ["CPU s per 1,000", of("cpu side"), 3],
    ["database's", of("cpu database"), 3],
    ["Redis's", of("cpu Redis"), 3],
    ["load's", of("cpu load"), 3],
    ["all", of(wholeCpu), 3],
    ["peak RSS MB", (side) => peaksOf(runs, side, load).join(" + ")],
  ]);
  return [[`## ${load}: ${WORKLOADS[load].about}`], rows];
}

/** Returns the goals for the measured sides. */
export function readGoals(runs: readonly Run[]): Goal[] {
  const against = (load: string, ours: string, theirs: string, what: string, wanted = 0) => {
    const place = { side: ours, load };
    const other = { side: theirs, load };
    const rate = ratioOf(runs, place, other);
    if (wanted === 0 || Number.isNaN(rate)) return [];
    return [
      atLeast(`${what}: rate against Fastify`, wanted, rate, "×"),
      atMost(`${what}: p99 against Fastify`, 1, ratioOf(runs, place, other, "p99Ms"), "×"),
    ];
  };
  const ratios = WORKLOAD_NAMES.flatMap((load) => {
    const { together, redis, apart } = WORKLOADS[load];
    const both = `${load}, both counting in Redis`;
    return [
      ...against(load, "one-process", "fastify", load, together),
      ...against(load, "one-process-redis", "fastify-redis", both, redis),
      ...against(load, "two-processes", "fastify", `${load}, apart`, apart),
    ];
  });
  const peak = Math.max(...WORKLOAD_NAMES.flatMap((load) => peaksOf(runs, "one-process", load)));
  const cold = medianOf(runs, { side: "one-process", load: "cold-pages" }, wholeCpu);
  return [
    ...ratios,
    ...(cold > 0 ? [atMost("cold-pages: CPU of all processes", COLD_CPU_MS, cold, "ms")] : []),
    ...(peak > 0 ? [atMost("resident memory, one process, peak", MEMORY_MB, peak, "MB")] : []),
  ];
}

/** Returns the peak resident memory of each process of a side so far. */
function peaksOf(runs: readonly Run[], side: string, load: string): number[] {
  const peaks = ["peak MB 0", "peak MB 1"].map((name) =>
    valuesOf(runs, { side, load }, name).at(-1),
  );
  return peaks.flatMap((peak) => (peak === undefined || Number.isNaN(peak) ? [] : [peak]));
}
