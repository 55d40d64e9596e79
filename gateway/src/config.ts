import { parseNetwork } from "./client-address.ts";

/** What the gateway needs to know to run by itself; docs/configuration.md describes each variable. */
export type GatewayConfig = {
  readonly host: string;
  readonly port: number;
  /** Where the gateway says whether it serves; nowhere unless given. */
  readonly healthPort: number | undefined;
  readonly coreUrl: string;
  readonly coreTls: CoreTlsConfig | undefined;
  readonly trustedProxies: readonly string[];
  /** Returns the service credential that is shown to the core: a function, so that printing it is harmless. */
  readonly revealCredential: () => string;
};

/** Files with the CA that signed the core's certificate, and the certificate and key shown to the core. */
export type CoreTlsConfig = {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
};

/** Every variable that is missing or wrong, in one message. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the gateway's settings; throws one ConfigError that names every bad variable. */
export function readConfig(env: Environment): GatewayConfig {
  const problems: string[] = [];
  const problem = (text: string) => {
    problems.push(text);
  };
  const credential = readCredential(env, problem);
  const config = {
    host: env.GATEWAY_HOST || "127.0.0.1",
    port: readPort(env, "GATEWAY_PORT", problem) ?? 8080,
    healthPort: readPort(env, "GATEWAY_HEALTH_PORT", problem),
    coreUrl: readCoreUrl(env, problem),
    coreTls: readCoreTls(env, problem),
    trustedProxies: readTrustedProxies(env, problem),
    revealCredential: () => credential,
  };
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return Object.freeze(config);
}

type Problem = (text: string) => void;

function readPort(env: Environment, name: string, problem: Problem): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    problem(`${name} must be a whole number from 0 to 65535.`);
  }
  return port;
}

function readCoreUrl(env: Environment, problem: Problem): string {
  const text = env.CORE_URL ?? "";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.pathname === "/" && url.search === "" && url.username === "";
  if (!isPlain || !["http:", "https:"].includes(url.protocol)) {
    problem("CORE_URL must be the core's address, such as http://127.0.0.1:50051.");
  }
  return text;
}

function readCredential(env: Environment, problem: Problem): string {
  const text = env.GATEWAY_CREDENTIAL ?? "";
  if (!/^[\x21-\x7e]+$/.test(text)) {
    problem("GATEWAY_CREDENTIAL must be a service credential that may forward client addresses.");
  }
  return text;
}

/** Reads the CIDRs of TRUSTED_PROXIES; tells `problem` when it holds anything else. */
export function readTrustedProxies(env: Environment, problem: Problem): readonly string[] {
  const networks = (env.TRUSTED_PROXIES ?? "").split(",").map((network) => network.trim());
  const given = networks.filter((network) => network !== "");
  try {
    given.forEach(parseNetwork);
  } catch {
    problem("TRUSTED_PROXIES must be CIDRs separated by commas, such as 10.0.0.0/8,fd00::/8.");
  }
  return given;
}

function readCoreTls(env: Environment, problem: Problem): CoreTlsConfig | undefined {
  const caFile = env.CORE_TLS_CA || undefined;
  const certFile = env.CORE_TLS_CLIENT_CERT || undefined;
  const keyFile = env.CORE_TLS_CLIENT_KEY || undefined;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    problem("CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY must be given together.");
  }
  if (!caFile && !certFile && !keyFile) return undefined;
  if (!env.CORE_URL?.startsWith("https:")) {
    problem("CORE_TLS_CA, CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY need an https CORE_URL.");
  }
  return { caFile, certFile, keyFile };
}
