import { readTrustedProxies } from "@activity/proto/client-address";

/** Where the product on one machine listens and keeps its data; docs/configuration.md lists it all. */
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

/** Every variable that is wrong, in one message. */
export class StackConfigError extends Error {
  override readonly name = "StackConfigError";
}

const HIGHEST_PORT = 65_535;
const CORE_TLS = ["CORE_TLS_CERT", "CORE_TLS_KEY", "CORE_TLS_CLIENT_CA"];

/**
 * Reads PORT, CORE_PORT, DASHBOARD_PORT, HOST, DATA_DIR and TRUSTED_PROXIES, and refuses the variables of a core with TLS;
 * throws one StackConfigError for all.
 */
export function readStackConfig(env: Readonly<Record<string, string | undefined>>): StackConfig {
  const problems: string[] = [];
  const port = (name: string, fallback: number): number => {
    const text = env[name];
    if (!text) return fallback;
    if (/^\d{1,5}$/.test(text) && Number(text) <= HIGHEST_PORT) return Number(text);
    problems.push(`${name} must be a port from 0 to ${HIGHEST_PORT}; 0 takes any free one.`);
    return fallback;
  };
  const config = {
    dataDir: env.DATA_DIR || ".data",
    corePort: port("CORE_PORT", 50_051),
    dashboardPort: port("DASHBOARD_PORT", 4180),
    gateway: {
      host: env.HOST || "127.0.0.1",
      port: port("PORT", 8080),
      trustedProxies: readTrustedProxies(env, (text) => problems.push(text)),
    },
  };
  const tls = CORE_TLS.filter((name) => env[name]);
  if (tls.length > 0) {
    problems.push(
      `${tls.join(", ")} cannot be used by npm start, whose own tools call its core without TLS: unset what is named, or run the core by itself with node server/src/main.ts.`,
    );
  }
  if (problems.length > 0) throw new StackConfigError(problems.join("\n"));
  return config;
}
