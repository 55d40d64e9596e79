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
} as const;
export type SideName = (typeof SideName)[keyof typeof SideName];

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
  /** Keeps it busy for so long. */
  run(workload: Workload, seconds: number): Promise<Sample>;
  stop(): Promise<void>;
};

/** What every side is started with. */
export type SideOptions = {
  readonly databaseUrl: string;
  readonly accounts: number;
  readonly concurrency: number;
  readonly profileFolder: string | undefined;
};
