import { readTrustedProxies } from "@activity/runtime/client-address";
import { type CoreAddress, readCoreAddress } from "@activity/runtime/core-address";
import {
  type Environment,
  type Problem,
  readCredential,
  readPort,
  readSettings,
} from "@activity/runtime/environment";
import { type ProcessConfig, readProcessSettings } from "@activity/runtime/process-config";

/** Where a gateway listens, and which proxies it trusts. docs/configuration.md describes each variable. */
export type EdgeConfig = {
  readonly host: string;
  readonly port: number;
  readonly trustedProxies: readonly string[];
};

/** The settings of a gateway in its own process. */
export type GatewayConfig = EdgeConfig & CoreAddress & ProcessConfig;

/** Reads the gateway's settings. Throws one ConfigError that names every bad variable. */
export function readConfig(env: Environment): GatewayConfig {
  return readSettings((problem) => {
    const purpose = "with the permission client_address.forward, for all accounts";
    const credential = readCredential(env, "GATEWAY_CREDENTIAL", purpose, problem);
    return {
      ...readEdgeSettings(env, problem),
      ...readCoreAddress(env, "", credential, problem),
      ...readProcessSettings(env, problem),
    };
  });
}

/** Reads the settings of a gateway in its core's process. Calls `problem` for every bad variable. */
export function readEdgeSettings(env: Environment, problem: Problem): EdgeConfig {
  return {
    host: env.GATEWAY_HOST || "127.0.0.1",
    port: readPort(env, "GATEWAY_PORT", problem) ?? 8080,
    trustedProxies: readTrustedProxies(env, problem),
  };
}
