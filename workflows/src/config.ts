import { type CoreAddress, mayBePlain, readCoreAddress } from "@activity/runtime/core-address";
import {
  CREDENTIAL,
  type Environment,
  type Problem,
  readAllowedTargets,
  readCa,
  readCredential,
  readSecret,
  readSettings,
  readTlsFiles,
  refuseUnsafeTargets,
} from "@activity/runtime/environment";
import { type ProcessConfig, readProcessSettings } from "@activity/runtime/process-config";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import type { NativeConnectionOptions } from "@temporalio/worker";

/** The settings of the dispatcher and the worker. docs/configuration.md describes each variable. */
export type DeliveryConfig = {
  /** The connection to Temporal. If it is undefined, first attempts are made, and retries wait. */
  readonly connection: NativeConnectionOptions | undefined;
  readonly namespace: string;
  /** `undefined` means a name with the installation's id. */
  readonly taskQueue: string | undefined;
  /** Identifies the version of this worker to Temporal. `undefined`: workers have no versions. ADR 0044 */
  readonly buildId?: string | undefined;
  /** Which runs are workflows: those with a retry, or all runs from their first attempt. */
  readonly deliveryWorkflows: DeliveryWorkflows;
  /** Development and tests only: `host:port` pairs that resolve to this machine. */
  readonly allowedTargets: ReadonlySet<string>;
  /** Development and tests only: a CA (PEM) that is trusted in addition to the public ones. */
  readonly extraCa: string | undefined;
  /** The egress proxy of every attempt, `http:` or `https:`. Without it attempts connect directly. */
  readonly proxyUrl: URL | undefined;
};

const DELIVERY_WORKFLOWS = ["retries", "all"] as const;
export type DeliveryWorkflows = (typeof DELIVERY_WORKFLOWS)[number];

const DEFAULT_CORE_URL = "http://127.0.0.1:50051";
/** Temporal's variables that name files. */
const TEMPORAL_FILES = {
  ca: "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
  cert: "TEMPORAL_TLS_CLIENT_CERT_PATH",
  key: "TEMPORAL_TLS_CLIENT_KEY_PATH",
};
/** The addresses that the SDK accepts. It refuses others only when it connects. */
const TEMPORAL_ADDRESS = /^(\[[\da-f:.]+\]|[^\s:/]+)(:\d{1,5})?$/i;
const NO_DEPLOYMENT = /[.:]|^__/;
const BUILD_ID = /^(?!__)[\w.-]{1,100}$/;

/**
 * Reads the settings. Temporal's variables have the names that Temporal's own tools use. Throws one ConfigError that
 * names every bad variable.
 */
export function readDeliveryConfig(env: Environment): DeliveryConfig {
  return readSettings((problem) => readDeliverySettings(env, problem));
}

/**
 * Reads the settings of `readDeliveryConfig`, for a caller that reads other settings too. Calls `problem` for every bad
 * variable.
 */
export function readDeliverySettings(env: Environment, problem: Problem): DeliveryConfig {
  refuseUnsafeTargets(env, problem);
  return {
    ...readTemporal(env, problem),
    taskQueue: env.TEMPORAL_TASK_QUEUE || undefined,
    buildId: readBuildId(env, problem),
    deliveryWorkflows: readDeliveryWorkflows(env, problem),
    allowedTargets: readAllowedTargets(env, problem),
    extraCa: readCa(env, "WEBHOOK_EXTRA_CA", problem),
    proxyUrl: readProxyUrl(env, problem),
  };
}

/**
 * Reads the settings of a process that runs the dispatcher and the worker without the core. They include the core's
 * address and credential. Throws one ConfigError that names every bad variable.
 */
export function readProcessConfig(
  env: Environment,
): ProcessConfig & { readonly delivery: DeliveryConfig; readonly core: CoreAddress } {
  return readSettings((problem) => ({
    delivery: readDeliverySettings(env, problem),
    core: readCore(env, problem),
    ...readProcessSettings(env, problem),
  }));
}

function readCore(env: Environment, problem: Problem): CoreAddress {
  const purpose = "with the permission delivery.dispatch, for all accounts";
  const credential = readCredential(env, "CORE_CREDENTIAL", purpose, problem);
  return readCoreAddress(env, DEFAULT_CORE_URL, credential, problem);
}

function readTemporal(
  env: Environment,
  problem: Problem,
): { readonly connection: NativeConnectionOptions; readonly namespace: string } {
  let isGood = true;
  const apiKeyText = readCheckedTemporal(env, (text) => {
    isGood = false;
    problem(text);
  });
  if (!isGood) return { connection: {}, namespace: "" };
  // Empty variables are left out, because the library does not count them as unset.
  const variables = Object.fromEntries(
    Object.entries({ ...env, TEMPORAL_API_KEY: apiKeyText }).flatMap(([name, value]) =>
      value ? [[name, value]] : [],
    ),
  );
  try {
    const { connectionOptions, namespace = "default" } = loadClientConnectConfig({
      disableFile: true,
      overrideEnvVars: variables,
    });
    const { address, tls, apiKey, metadata } = connectionOptions;
    const host = address?.replace(/:\d+$/, "") ?? "localhost";
    if (apiKey !== undefined && !tls && !mayBePlain(env, host, problem)) {
      problem(
        "TEMPORAL_TLS must be true or unset with TEMPORAL_API_KEY, which would travel in plain text; ALLOW_PLAINTEXT=trusted-network allows it on a network that nobody else can read.",
      );
    }
    const connection = {
      ...(address !== undefined && { address }),
      ...(tls !== undefined && { tls }),
      ...(typeof apiKey === "string" && { apiKey }),
      ...(metadata !== undefined && { metadata }),
    };
    return { connection, namespace };
  } catch (error) {
    problem(`A TEMPORAL_ variable cannot be used: ${error instanceof Error ? error.message : ""}`);
    return { connection: {}, namespace: "" };
  }
}

/**
 * Checks Temporal's variables before the library reads them, and returns the API key. The library treats most mistakes
 * as no TLS. If a secret was given instead of a path, the library's error would repeat the secret.
 */
function readCheckedTemporal(env: Environment, problem: Problem): string | undefined {
  if (env.TEMPORAL_ADDRESS && !TEMPORAL_ADDRESS.test(env.TEMPORAL_ADDRESS)) {
    problem("TEMPORAL_ADDRESS must be the host:port of a Temporal.");
  }
  if (!/^(true|false|1|0)?$/.test(env.TEMPORAL_TLS ?? "")) {
    problem("TEMPORAL_TLS must be true, false or unset.");
  }
  const isOff = ["false", "0"].includes(env.TEMPORAL_TLS ?? "");
  if (isOff && Object.keys(env).some((name) => name.startsWith("TEMPORAL_TLS_") && env[name])) {
    problem("TEMPORAL_TLS must be true or unset with other TEMPORAL_TLS_ variables.");
  }
  readTlsFiles(env, TEMPORAL_FILES, problem);
  const has = (part: string) =>
    Boolean(env[`TEMPORAL_TLS_CLIENT_${part}_PATH`] || env[`TEMPORAL_TLS_CLIENT_${part}_DATA`]);
  if (has("CERT") !== has("KEY")) {
    problem(
      `${TEMPORAL_FILES.cert} and ${TEMPORAL_FILES.key}, or their _DATA forms, must be given together.`,
    );
  }
  const apiKey = readSecret(env, "TEMPORAL_API_KEY", problem);
  // With a malformed API key the SDK would send no header.
  if (apiKey && !CREDENTIAL.test(apiKey)) {
    problem("TEMPORAL_API_KEY must be an API key: visible ASCII on one line, without spaces.");
  }
  return apiKey;
}

function readBuildId(env: Environment, problem: Problem): string | undefined {
  const text = env.TEMPORAL_WORKER_BUILD_ID;
  if (text && !BUILD_ID.test(text)) {
    problem(
      "TEMPORAL_WORKER_BUILD_ID must be 1 to 100 letters, digits, dots, hyphens or underscores, and not begin with two underscores.",
    );
  }
  // The worker's deployment has the task queue's name. If that name has one of these forms, Temporal refuses the
  // worker's polls, and only the log shows this.
  if (text && NO_DEPLOYMENT.test(env.TEMPORAL_TASK_QUEUE ?? "")) {
    problem(
      "With TEMPORAL_WORKER_BUILD_ID, TEMPORAL_TASK_QUEUE must have no dot and no colon, and not begin with two underscores.",
    );
  }
  return text || undefined;
}

/** The URL can hold a password. It can therefore come from a file, and no error message repeats it. */
function readProxyUrl(env: Environment, problem: Problem): URL | undefined {
  const text = readSecret(env, "WEBHOOK_PROXY_URL", problem);
  if (!text) return undefined;
  const url = URL.parse(text);
  const isBare = url?.pathname === "/" && url.search === "" && url.hash === "";
  if (url && isBare && (url.protocol === "http:" || url.protocol === "https:")) {
    const isPlain = url.protocol === "http:" && (url.username !== "" || url.password !== "");
    if (isPlain && !mayBePlain(env, url.hostname, problem)) {
      problem(
        "WEBHOOK_PROXY_URL has a user or password that would travel in plain text: begin it with https://, or set ALLOW_PLAINTEXT=trusted-network on a network that nobody else can read.",
      );
    }
    return url;
  }
  problem(
    "WEBHOOK_PROXY_URL must be http://host:port or https://host:port. If the proxy needs them, put user:password@ before the host, percent-encoded.",
  );
  return undefined;
}

function readDeliveryWorkflows(env: Environment, problem: Problem): DeliveryWorkflows {
  const text = env.DELIVERY_WORKFLOWS || "retries";
  const choice = DELIVERY_WORKFLOWS.find((value) => value === text);
  if (choice === undefined) problem("DELIVERY_WORKFLOWS must be retries or all.");
  return choice ?? "retries";
}
