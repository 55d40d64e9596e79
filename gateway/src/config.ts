import { readTrustedProxies } from "@activity/runtime/client-address";
import { type CoreAddress, readCoreAddress } from "@activity/runtime/core-address";
import { readDrainMs } from "@activity/runtime/end-at-signal";
import {
  type Environment,
  type Problem,
  readCredential,
  readPort,
  readSettings,
} from "@activity/runtime/environment";
import { type HealthAddress, readHealthAddress } from "@activity/runtime/health";
import { type MetricsAddress, readMetricsAddress } from "@activity/runtime/metrics";
import { readTraceConfig, type TraceConfig } from "@activity/runtime/traces";

/** Where a gateway listens and whom it believes; docs/configuration.md describes each variable. */
export type EdgeConfig = {
  readonly host: string;
  readonly port: number;
  readonly trustedProxies: readonly string[];
};

/** What the gateway needs to know to run by itself. */
export type GatewayConfig = EdgeConfig &
  CoreAddress & {
    /** Without it nothing is counted. */
    readonly metrics: MetricsAddress | undefined;
    /** Where the process says whether it serves; nowhere unless given. */
    readonly health: HealthAddress | undefined;
    /** How long it serves on, with its readiness down, once it was told to end. */
    readonly drainMs: number;
    /** Without it nothing is traced. */
    readonly traces: TraceConfig | undefined;
  };

/** Reads the gateway's settings; throws one ConfigError that names every bad variable. */
export function readConfig(env: Environment): GatewayConfig {
  return readSettings((problem) => {
    const purpose = "that may forward client addresses";
    const credential = readCredential(env, "GATEWAY_CREDENTIAL", purpose, problem);
    return {
      ...readEdgeSettings(env, problem),
      ...readCoreAddress(env, "", credential, problem),
      metrics: readMetricsAddress(env, problem),
      health: readHealthAddress(env, problem),
      drainMs: readDrainMs(env, problem),
      traces: readTraceConfig(env, problem),
    };
  });
}

/** Reads the settings of a gateway that has its core in the same process; tells `problem` of every bad variable. */
export function readEdgeSettings(env: Environment, problem: Problem): EdgeConfig {
  return {
    host: env.GATEWAY_HOST || "127.0.0.1",
    port: readPort(env, "GATEWAY_PORT", problem) ?? 8080,
    trustedProxies: readTrustedProxies(env, problem),
  };
}
