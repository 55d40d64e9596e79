import { type EdgeConfig, readEdgeConfig } from "@activity/gateway";
import { ConfigError, readConfig, type ServerConfig } from "@activity/server";
import { type DeliveryConfig, readDeliveryConfig } from "@activity/workflows";

/** What core, gateway and deliveries in one process need to know. */
export type ServeConfig = {
  readonly core: ServerConfig;
  readonly gateway: EdgeConfig;
  readonly deliveries: DeliveryConfig;
};

type Environment = Readonly<Record<string, string | undefined>>;

const TEMPORAL_ADDRESS = /^\S+:\d{1,5}$/;

/**
 * Reads the settings of all three from the environment and from nowhere else. Throws one ConfigError that names
 * every bad variable of them together, each once.
 */
export function readServeConfig(env: Environment): ServeConfig {
  const problems = new Set<string>();
  const read = <Config>(readPart: (env: Environment) => Config) => {
    try {
      return readPart(env);
    } catch (error) {
      // Each package has a class of this name.
      if (!(error instanceof Error) || error.name !== "ConfigError") throw error;
      for (const problem of error.message.split("\n")) problems.add(problem);
      return undefined;
    }
  };
  const core = read(readConfig);
  const gateway = read(readEdgeConfig);
  const deliveries = read(readDeliveryConfig);
  // Without it Temporal's tools take one on this machine, which a production process never means.
  if (!TEMPORAL_ADDRESS.test(env.TEMPORAL_ADDRESS ?? "")) {
    problems.add("TEMPORAL_ADDRESS must be the host:port of a Temporal.");
  }
  if (problems.size > 0 || !core || !gateway || !deliveries) {
    throw new ConfigError([...problems].join("\n"));
  }
  return { core, gateway, deliveries };
}
