import { readTrustedProxies } from "@activity/proto/client-address";
import { readDrainMs } from "@activity/proto/end-at-signal";
import { type CoreTls, readCoreTls, readCoreUrl, readSecret } from "@activity/proto/environment";
import { type HealthAddress, readHealthAddress } from "@activity/proto/health";
import { type MetricsAddress, readMetricsAddress } from "@activity/proto/metrics";
import { readTraceConfig, type TraceConfig } from "@activity/proto/traces";

/** Where a gateway listens and whom it believes; docs/configuration.md describes each variable. */
export type EdgeConfig = {
  readonly host: string;
  readonly port: number;
  readonly trustedProxies: readonly string[];
};

/** What the gateway needs to know to run by itself. */
export type GatewayConfig = EdgeConfig & {
  readonly coreUrl: string;
  readonly coreTls: CoreTls;
  /** Returns the service credential that is shown to the core: a function, so that printing it is harmless. */
  readonly revealCredential: () => string;
  /** Without it nothing is counted. */
  readonly metrics: MetricsAddress | undefined;
  /** Where the process says whether it serves; nowhere unless given. */
  readonly health: HealthAddress | undefined;
  /** How long it serves on, with its readiness down, once it was told to end. */
  readonly drainMs: number;
  /** Without it nothing is traced. */
  readonly traces: TraceConfig | undefined;
};

/** Every variable that is missing or wrong, in one message. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

type Problem = (text: string) => void;

/** Reads the gateway's settings; throws one ConfigError that names every bad variable. */
export function readConfig(env: Environment): GatewayConfig {
  return readAll((problem) => {
    const credential = readCredential(env, problem);
    return {
      ...readEdge(env, problem),
      coreUrl: readCoreUrl(env, "", problem),
      coreTls: readCoreTls(env, problem),
      revealCredential: () => credential,
      metrics: readMetricsAddress(env, problem),
      health: readHealthAddress(env, problem),
      drainMs: readDrainMs(env, problem),
      traces: readTraceConfig(env, problem),
    };
  });
}

/** Reads the settings of a gateway that has its core in the same process; throws as `readConfig` does. */
export function readEdgeConfig(env: Environment): EdgeConfig {
  return readAll((problem) => readEdge(env, problem));
}

function readAll<Config>(read: (problem: Problem) => Config): Config {
  const problems: string[] = [];
  const config = read((text) => problems.push(text));
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return Object.freeze(config);
}

function readEdge(env: Environment, problem: Problem): EdgeConfig {
  return {
    host: env.GATEWAY_HOST || "127.0.0.1",
    port: readPort(env, "GATEWAY_PORT", problem) ?? 8080,
    trustedProxies: readTrustedProxies(env, problem),
  };
}

function readPort(env: Environment, name: string, problem: Problem): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    problem(`${name} must be a whole number from 0 to 65535.`);
  }
  return port;
}

function readCredential(env: Environment, problem: Problem): string {
  const text = readSecret(env, "GATEWAY_CREDENTIAL", problem);
  if (text === undefined) return "";
  if (!/^[\x21-\x7e]+$/.test(text)) {
    problem("GATEWAY_CREDENTIAL must be a service credential that may forward client addresses.");
  }
  return text;
}
