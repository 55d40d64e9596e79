import type { Workload } from "../load/workload.ts";
import type { Sample } from "../measure/sample.ts";

/** What is measured beside the others. */
export const SideName = {
  OneProcess: "one-process",
  TwoProcesses: "two-processes",
  Fastify: "fastify",
  BareQuery: "bare-query",
  BareHttp: "bare-http",
  OneProcessRedis: "one-process-redis",
  FastifyRedis: "fastify-redis",
  OneProcessMetrics: "one-process-metrics",
  OneProcessTraced: "one-process-traced",
  TwoProcessesTraced: "two-processes-traced",
} as const;
export type SideName = (typeof SideName)[keyof typeof SideName];

/** Sides that send their traces. */
export const TRACED: ReadonlySet<SideName> = new Set([
  SideName.OneProcessTraced,
  SideName.TwoProcessesTraced,
]);

/** Those of a run that names none. What metrics and traces cost is asked for by name. */
export const USUAL_SIDES: readonly SideName[] = Object.values(SideName).filter(
  (name) => name !== SideName.OneProcessMetrics && !TRACED.has(name),
);

/** One of the things measured, running. */
export type Side = {
  readonly name: SideName;
  /** For people. */
  readonly label: string;
  /** The processes whose time and memory are its own; the database's are counted apart. */
  readonly pids: readonly number[];
  /** The process that puts the load on it from outside. */
  readonly loadPids: readonly number[];
  /** Where it serves; absent for what speaks no HTTP. */
  readonly port?: number;
  /** Gets its next turn ready. */
  prepare(workload: Workload): Promise<void>;
  /** Keeps it busy for `seconds`. */
  run(workload: Workload, seconds: number): Promise<Sample>;
  stop(): Promise<void>;
};

/** What every side is started with. */
export type SideOptions = {
  readonly databaseUrl: string;
  readonly accounts: number;
  readonly concurrency: number;
  readonly profileFolder: string | undefined;
  /** Where a side that is traced sends its spans. */
  readonly tracesUrl?: string | undefined;
};
