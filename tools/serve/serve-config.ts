import { type EdgeConfig, readEdgeSettings } from "@activity/gateway";
import { type Environment, readSettings } from "@activity/runtime/environment";
import { readCoreSettings, type ServerConfig } from "@activity/server";
import { type DeliveryConfig, readDeliverySettings } from "@activity/workflows";

/** The settings of core, gateway and deliveries in one process. */
export type ServeConfig = {
  readonly core: ServerConfig;
  readonly gateway: EdgeConfig;
  readonly deliveries: DeliveryConfig;
};

const TEMPORAL_ADDRESS = /^\S+:\d{1,5}$/;

/**
 * Reads the settings of all three parts from the environment only. Throws one ConfigError that names every bad
 * variable once.
 */
export function readServeConfig(env: Environment): ServeConfig {
  return readSettings((problem) => {
    const settings = {
      core: readCoreSettings(env, problem),
      gateway: readEdgeSettings(env, problem),
      deliveries: readDeliverySettings(env, problem),
    };
    // Temporal's tools default to this machine. In production that would be a mistake, so the address is required.
    if (!TEMPORAL_ADDRESS.test(env.TEMPORAL_ADDRESS ?? "")) {
      problem("TEMPORAL_ADDRESS must be the host:port of a Temporal.");
    }
    return settings;
  });
}
