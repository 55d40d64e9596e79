import { type CursorKey, createCursorKey } from "./activity/activity-cursor.ts";

/** What the core needs to know to run; docs/configuration.md describes each variable. */
export type ServerConfig = {
  readonly databaseUrl: string;
  readonly databaseConnections: number;
  readonly redisUrl: string | undefined;
  readonly cursorKeys: readonly [CursorKey, ...CursorKey[]];
  readonly host: string;
  readonly port: number;
  readonly tls: TlsConfig | undefined;
};

/** Files of the core's certificate and key; with a client CA, callers must show a certificate too. */
export type TlsConfig = {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | undefined;
};

/** Every variable that is missing or wrong, in one message. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

const CURSOR_KEY = /^[0-9a-f]{64}$/;

/** Reads the core's settings; throws one ConfigError that names every bad variable. */
export function readConfig(env: Environment): ServerConfig {
  const problems: string[] = [];
  const problem = (text: string) => {
    problems.push(text);
  };
  const config = {
    databaseUrl: readUrl(env, "DATABASE_URL", "mysql:", problem) ?? "",
    databaseConnections: readInteger(env, "DATABASE_CONNECTIONS", 10, 1, 1000, problem),
    redisUrl: env.REDIS_URL ? readUrl(env, "REDIS_URL", "redis", problem) : undefined,
    cursorKeys: readCursorKeys(env, problem),
    host: env.CORE_HOST || "127.0.0.1",
    port: readInteger(env, "CORE_PORT", 50051, 0, 65535, problem),
    tls: readTls(env, problem),
  };
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return Object.freeze(config);
}

function readUrl(
  env: Environment,
  name: string,
  scheme: string,
  problem: (text: string) => void,
): string | undefined {
  const text = env[name];
  if (text && URL.canParse(text) && new URL(text).protocol.startsWith(scheme)) return text;
  problem(`${name} must be a URL that begins with ${scheme.replace(":", "")}://.`);
  return undefined;
}

function readInteger(
  env: Environment,
  name: string,
  fallback: number,
  lowest: number,
  highest: number,
  problem: (text: string) => void,
): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= lowest && value <= highest) return value;
  problem(`${name} must be a whole number from ${lowest} to ${highest}.`);
  return fallback;
}

function readCursorKeys(
  env: Environment,
  problem: (text: string) => void,
): readonly [CursorKey, ...CursorKey[]] {
  const [first = "", ...rest] = (env.CURSOR_KEYS ?? "").split(",").map((key) => key.trim());
  if (![first, ...rest].every((key) => CURSOR_KEY.test(key))) {
    problem(
      "CURSOR_KEYS must be one or more keys of 64 lower-case hexadecimal characters, the signing one first, separated by commas.",
    );
  }
  const keyFrom = (hex: string) => createCursorKey(Buffer.from(hex, "hex"));
  return [keyFrom(first), ...rest.map(keyFrom)];
}

function readTls(env: Environment, problem: (text: string) => void): TlsConfig | undefined {
  const certFile = env.CORE_TLS_CERT || undefined;
  const keyFile = env.CORE_TLS_KEY || undefined;
  const clientCaFile = env.CORE_TLS_CLIENT_CA || undefined;
  if (certFile && keyFile) return { certFile, keyFile, clientCaFile };
  if (certFile || keyFile || clientCaFile) {
    problem(
      "CORE_TLS_CERT and CORE_TLS_KEY must be given together, CORE_TLS_CLIENT_CA only with both.",
    );
  }
  return undefined;
}
