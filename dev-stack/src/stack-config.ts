import { readTrustedProxies } from "@activity/runtime/client-address";
import { type Environment, readPort, readSettings } from "@activity/runtime/environment";

/** The addresses and the data folder of the product on one machine (docs/configuration.md). */
export type StackConfig = {
  readonly dataDir: string;
  readonly corePort: number;
  readonly dashboardPort: number;
  readonly gateway: {
    readonly host: string;
    readonly port: number;
    readonly trustedProxies: readonly string[];
  };
};

const CORE_TLS = ["CORE_TLS_CERT", "CORE_TLS_KEY", "CORE_TLS_CLIENT_CA"];

/**
 * Reads PORT, CORE_PORT, DASHBOARD_PORT, HOST, DATA_DIR and TRUSTED_PROXIES. Refuses the variables of a core with
 * TLS. Throws one ConfigError for all problems.
 */
export function readStackConfig(env: Environment): StackConfig {
  return readSettings((problem) => {
    const tls = CORE_TLS.filter((name) => env[name]);
    if (tls.length > 0) {
      problem(
        `${tls.join(", ")} cannot be used by npm start, whose own tools call its core without TLS: unset what is named, or run the core by itself with node server/src/main.ts.`,
      );
    }
    return {
      dataDir: env.DATA_DIR || ".data",
      corePort: readPort(env, "CORE_PORT", problem) ?? 50_051,
      dashboardPort: readPort(env, "DASHBOARD_PORT", problem) ?? 4180,
      gateway: {
        host: env.HOST || "127.0.0.1",
        port: readPort(env, "PORT", problem) ?? 8080,
        trustedProxies: readTrustedProxies(env, problem),
      },
    };
  });
}
