import type { PageLatency } from "../history/page-latency.ts";
import type { Workload } from "../load/workload.ts";
import type { Round } from "../measure/rounds.ts";
import { median } from "../measure/sample.ts";
import type { Side, SideName } from "../sides/side.ts";
import type { Machine } from "./machine.ts";

/** Everything a run measured: what results/read.json holds. */
export type Results = {
  readonly machine: Machine;
  readonly settings: {
    readonly data: string;
    readonly concurrency: number;
    readonly rounds: number;
    readonly secondsARound: number;
    readonly profiled: boolean;
  };
  readonly workloads: readonly WorkloadResult[];
  readonly history: readonly PageLatency[];
};

/** What each side made of one workload. */
export type WorkloadResult = { readonly name: Workload; readonly sides: readonly SideResult[] };

/** One side's medians over the rounds, and the rounds themselves. */
export type SideResult = {
  readonly name: SideName;
  readonly label: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuPer1000: number;
  readonly databaseCpuPer1000: number;
  readonly loadCpuPer1000: number;
  /** Highest resident memory of each process during the run. */
  readonly peakMemoryMb: readonly number[];
  readonly rounds: readonly Round[];
};

/** Takes the medians of a side's rounds. */
export function sideResult(
  { name, label }: Side,
  measured: ReadonlyMap<SideName, readonly Round[]>,
): SideResult {
  const rounds = measured.get(name) ?? [];
  const of = (pick: (round: Round) => number) => median(rounds.map(pick));
  return {
    name,
    label,
    requestsPerSecond: of((round) => round.requestsPerSecond),
    p50Ms: of((round) => round.p50Ms),
    p99Ms: of((round) => round.p99Ms),
    cpuPer1000: of((round) => round.cpuPer1000),
    databaseCpuPer1000: of((round) => round.databaseCpuPer1000),
    loadCpuPer1000: of((round) => round.loadCpuPer1000),
    peakMemoryMb: rounds.at(-1)?.memory.map(({ peakMb }) => peakMb) ?? [],
    rounds,
  };
}

/** Compares two sides round by round, for they ran one after the other; returns the median of that. */
export function ratio(one: SideResult, other: SideResult, pick: (round: Round) => number): number {
  const ratios = one.rounds.map((round, index) => {
    const opposite = other.rounds[index];
    return opposite === undefined ? Number.NaN : pick(round) / pick(opposite);
  });
  return median(ratios);
}
