import { readDrainMs } from "./end-at-signal.ts";
import type { Environment, Problem } from "./environment.ts";
import { type HealthAddress, readHealthAddress } from "./health.ts";
import { type MetricsAddress, readMetricsAddress } from "./metrics.ts";
import { readTraceConfig, type TraceConfig } from "./traces.ts";

/** The settings that every process has. */
export type ProcessConfig = {
  /** Where the process serves metrics. Without it nothing is counted. */
  readonly metrics?: MetricsAddress | undefined;
  /** Where the process serves `/live` and `/ready`. Without it they are not served. */
  readonly health?: HealthAddress | undefined;
  /** How long the process continues after a signal, while `/ready` fails. Its dispatchers then claim nothing more. */
  readonly drainMs: number;
  /** Where the process sends traces. Without it nothing is traced. */
  readonly traces?: TraceConfig | undefined;
};

/** Reads the settings of a process. Calls `problem` for every bad variable. */
export function readProcessSettings(env: Environment, problem: Problem): ProcessConfig {
  return {
    metrics: readMetricsAddress(env, problem),
    health: readHealthAddress(env, problem),
    drainMs: readDrainMs(env, problem),
    traces: readTraceConfig(env, problem),
  };
}
