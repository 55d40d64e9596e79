import { mayBePlain } from "@activity/runtime/core-address";
import {
  type Environment,
  type Problem,
  readAllowedTargets,
  readPort,
  readSecret,
  readSettings,
  readTlsFiles,
  readWholeNumber,
  refuseUnsafeTargets,
} from "@activity/runtime/environment";
import { type ProcessConfig, readProcessSettings } from "@activity/runtime/process-config";
import { type CursorKey, createCursorKey } from "./activity/activity-cursor.ts";
import { parseRedisUrl, RedisUrlError } from "./admission/redis-url.ts";
import { type DashboardConfig, readDashboard } from "./browser/dashboard-config.ts";
import { DatabaseUrlError, parseDatabaseUrl } from "./database/database-url.ts";
import type { TlsConfig } from "./rpc/http-server.ts";
import { createSecretKey, type SecretKeys } from "./signing-secret/secret-cipher.ts";

/** The core's settings. docs/configuration.md describes each variable. */
export type ServerConfig = ProcessConfig & {
  readonly databaseUrl: string;
  readonly databaseConnections: number;
  readonly redisUrl: string | undefined;
  readonly cursorKeys: readonly [CursorKey, ...CursorKey[]];
  readonly secretKeys: SecretKeys;
  /** Each `host:port` of this machine that endpoints may name, for development and tests only. */
  readonly allowedTargets: ReadonlySet<string>;
  /** How long ended deliveries and closed notices are kept. */
  readonly deliveryRetentionDays: number;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsConfig | undefined;
  /** Without it there is no dashboard. */
  readonly dashboard: DashboardConfig | undefined;
};

const KEY = /^[0-9a-f]{64}$/;
const TLS_FILES = { ca: "CORE_TLS_CLIENT_CA", cert: "CORE_TLS_CERT", key: "CORE_TLS_KEY" };

/** Reads the core's settings. Throws one ConfigError that names every bad variable. */
export function readConfig(env: Environment): ServerConfig {
  return readSettings((problem) => readCoreSettings(env, problem));
}

/** Like `readConfig`, for programs with more settings. Reports every bad variable to `problem`. */
export function readCoreSettings(env: Environment, problem: Problem): ServerConfig {
  refuseUnsafeTargets(env, problem);
  const host = env.CORE_HOST || "127.0.0.1";
  return {
    databaseUrl: readDatabaseUrl(env, problem),
    databaseConnections: readWholeNumber(env, "DATABASE_CONNECTIONS", [1, 1000], problem) ?? 10,
    redisUrl: readRedisUrl(env, problem),
    cursorKeys: readKeys(env, "CURSOR_KEYS", createCursorKey, problem),
    secretKeys: readKeys(env, "SECRET_KEYS", createSecretKey, problem),
    allowedTargets: readAllowedTargets(env, problem),
    deliveryRetentionDays: readWholeNumber(env, "DELIVERY_RETENTION", [1, 3650], problem) ?? 30,
    host,
    port: readPort(env, "CORE_PORT", problem) ?? 50_051,
    tls: readTls(env, host, problem),
    dashboard: readDashboard(env, problem),
    ...readProcessSettings(env, problem),
  };
}

/**
 * Reads DATABASE_URL and SECRET_KEYS, for a tool that re-encrypts signing secrets and needs no other settings. Throws
 * one ConfigError that names every bad variable.
 */
export function readSecretStorageConfig(
  env: Environment,
): Pick<ServerConfig, "databaseUrl" | "secretKeys"> {
  return readSettings((problem) => ({
    databaseUrl: readDatabaseUrl(env, problem),
    secretKeys: readKeys(env, "SECRET_KEYS", createSecretKey, problem),
  }));
}

/**
 * Reads DATABASE_URL. Reports to `problem` if it is invalid, or if it leads to another machine without TLS and
 * ALLOW_PLAINTEXT does not allow that.
 */
export function readDatabaseUrl(env: Environment, problem: Problem): string {
  const text = readSecret(env, "DATABASE_URL", problem);
  if (text === undefined) return "";
  try {
    const { host, tls } = parseDatabaseUrl(text);
    if (tls === undefined && !mayBePlain(env, host, problem)) {
      problem(
        "DATABASE_URL leads to another machine without TLS: end it with ?ssl-mode=VERIFY_IDENTITY, or set ALLOW_PLAINTEXT=trusted-network on a network that nobody else can read.",
      );
    }
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error;
    problem(error.message);
  }
  return text;
}

function readRedisUrl(env: Environment, problem: Problem): string | undefined {
  const text = readSecret(env, "REDIS_URL", problem);
  if (!text) return undefined;
  try {
    const address = parseRedisUrl(text);
    const mayLeadTo = (host: string) => address.tls || mayBePlain(env, host, problem);
    if (!address.hosts.every(mayLeadTo)) {
      problem(
        "REDIS_URL leads to another machine without TLS: begin it with rediss:// or rediss-cluster://, or set ALLOW_PLAINTEXT=trusted-network on a network that nobody else can read.",
      );
    } else if (address.kind === "cluster" && address.password && !mayLeadTo("unnamed nodes")) {
      // A cluster names its other nodes itself. They may be anywhere, and get the same password.
      problem(
        "REDIS_URL may lead to another machine without TLS, because every node of the Redis Cluster gets its password: begin it with rediss-cluster://, or set ALLOW_PLAINTEXT=trusted-network on a network that nobody else can read.",
      );
    }
  } catch (error) {
    if (!(error instanceof RedisUrlError)) throw error;
    problem(error.message);
  }
  return text;
}

/** Reads one or more cursor keys or secret keys of 32 bytes. The first is the one in use. */
function readKeys<Key>(
  env: Environment,
  name: string,
  create: (bytes: Buffer) => Key,
  problem: Problem,
): readonly [Key, ...Key[]] {
  const text = readSecret(env, name, problem);
  const [first = "", ...rest] = (text ?? "").split(",").map((key) => key.trim());
  if (text !== undefined && ![first, ...rest].every((key) => KEY.test(key))) {
    problem(
      `${name} must be one or more keys of 64 lower-case hexadecimal characters, the one in use first, separated by commas.`,
    );
  }
  const keyFrom = (hex: string) => create(Buffer.from(hex, "hex"));
  return [keyFrom(first), ...rest.map(keyFrom)];
}

function readTls(env: Environment, host: string, problem: Problem): TlsConfig | undefined {
  // Checks the files before the core migrates the database. The server reads them again when it listens.
  readTlsFiles(env, TLS_FILES, problem);
  const certFile = env.CORE_TLS_CERT;
  const keyFile = env.CORE_TLS_KEY;
  const clientCaFile = env.CORE_TLS_CLIENT_CA || undefined;
  if (certFile && keyFile) return { certFile, keyFile, clientCaFile };
  if (certFile || keyFile || clientCaFile) {
    problem(
      "CORE_TLS_CERT and CORE_TLS_KEY must be given together, CORE_TLS_CLIENT_CA only with both.",
    );
  } else if (!mayBePlain(env, host, problem)) {
    problem(
      "CORE_HOST lets other machines in, whose credentials would travel in plain text: set CORE_TLS_CERT and CORE_TLS_KEY, or ALLOW_PLAINTEXT=trusted-network on a network that nobody else can read.",
    );
  }
  return undefined;
}
