import { type CursorKey, createCursorKey } from "./activity/activity-cursor.ts";
import { createSecretKey, type SecretKeys } from "./signing-secret/secret-cipher.ts";

/** What the core needs to know to run; docs/configuration.md describes each variable. */
export type ServerConfig = {
  readonly databaseUrl: string;
  readonly databaseConnections: number;
  readonly redisUrl: string | undefined;
  readonly cursorKeys: readonly [CursorKey, ...CursorKey[]];
  readonly secretKeys: SecretKeys;
  /** The `host:port` of this machine that endpoints may name: development and tests only. */
  readonly allowedTargets: ReadonlySet<string>;
  /** How long ended deliveries are kept. */
  readonly deliveryRetentionDays: number;
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

const KEY = /^[0-9a-f]{64}$/;
const ALLOWED_TARGET = /^\S+:\d{1,5}$/;

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
    cursorKeys: readKeys(env, "CURSOR_KEYS", createCursorKey, problem),
    secretKeys: readKeys(env, "SECRET_KEYS", createSecretKey, problem),
    allowedTargets: readAllowedTargets(env, problem),
    deliveryRetentionDays: readInteger(env, "DELIVERY_RETENTION", 30, 1, 3650, problem),
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

/** Reads one or more keys of 32 bytes, the one in use first. */
function readKeys<Key>(
  env: Environment,
  name: string,
  create: (bytes: Buffer) => Key,
  problem: (text: string) => void,
): readonly [Key, ...Key[]] {
  const [first = "", ...rest] = (env[name] ?? "").split(",").map((key) => key.trim());
  if (![first, ...rest].every((key) => KEY.test(key))) {
    problem(
      `${name} must be one or more keys of 64 lower-case hexadecimal characters, the one in use first, separated by commas.`,
    );
  }
  const keyFrom = (hex: string) => create(Buffer.from(hex, "hex"));
  return [keyFrom(first), ...rest.map(keyFrom)];
}

function readAllowedTargets(
  env: Environment,
  problem: (text: string) => void,
): ReadonlySet<string> {
  const targets = (env.WEBHOOK_ALLOWED_TARGETS ?? "").split(",").filter((target) => target !== "");
  if (!targets.every((target) => ALLOWED_TARGET.test(target))) {
    problem("WEBHOOK_ALLOWED_TARGETS must be host:port pairs separated by commas.");
  }
  return new Set(targets);
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
