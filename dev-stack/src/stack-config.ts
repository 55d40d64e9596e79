import { readTrustedProxies } from "@activity/runtime/client-address";
import {
  type Environment,
  type Problem,
  readPort,
  readSettings,
} from "@activity/runtime/environment";

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

/**
 * An accepted HOST. It has no underscore, because conda's compilers set HOST to a name such as x86_64-conda-linux-gnu.
 */
const HOST_NAME = /^[A-Za-z0-9.:-]+$/;
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
        host: readHost(env.HOST || "127.0.0.1", problem),
        port: readPort(env, "PORT", problem) ?? 8080,
        trustedProxies: readTrustedProxies(env, problem),
      },
    };
  });
}

function readHost(host: string, problem: Problem): string {
  if (!HOST_NAME.test(host)) {
    problem(
      "HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0: correct it, or unset it if a compiler's environment set it.",
    );
  }
  return host;
}
