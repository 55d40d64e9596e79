import { type Environment, type Problem, readTlsFiles } from "./environment.ts";

/** PEM files for a core with TLS. By default Node's own CAs are trusted, and no client certificate is sent. */
export type CoreTls = {
  /** The CA that signed the core's certificate. */
  readonly ca?: string;
  /** The client certificate for mutual TLS. */
  readonly cert?: string;
  readonly key?: string;
};

/** The address of a core in another process, and the credential for it. */
export type CoreAddress = {
  readonly coreUrl: string;
  readonly coreTls: CoreTls;
  /** Returns the service credential. It is a function, so that printed settings do not show it. */
  readonly revealCredential: () => string;
};

const TLS_FILES = {
  ca: "CORE_TLS_CA",
  cert: "CORE_TLS_CLIENT_CERT",
  key: "CORE_TLS_CLIENT_KEY",
};
/** Hosts of this machine, as in URLs and in listen addresses. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/**
 * Reads a core's address from CORE_URL, or `fallbackUrl` if it is unset, and the files that CORE_TLS_CA,
 * CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY name. Calls `problem` for each wrong variable.
 */
export function readCoreAddress(
  env: Environment,
  fallbackUrl: string,
  credential: string,
  problem: Problem,
): CoreAddress {
  return {
    coreUrl: readCoreUrl(env, fallbackUrl, problem),
    coreTls: readCoreTls(env, problem),
    revealCredential: () => credential,
  };
}

/**
 * Reads CORE_URL, an http or https URL without path, query and user, or returns `fallback` if it is unset. Calls
 * `problem` if it is no such URL, or is plain http to another machine without ALLOW_PLAINTEXT.
 */
export function readCoreUrl(env: Environment, fallback: string, problem: Problem): string {
  const text = env.CORE_URL || fallback;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.pathname === "/" && url.search === "" && url.username === "";
  if (!isBare || !["http:", "https:"].includes(url.protocol)) {
    problem("CORE_URL must be the core's address, such as http://127.0.0.1:50051.");
  } else if (!mayBePlain(env, url.hostname, problem) && url.protocol === "http:") {
    problem(
      "CORE_URL must begin with https:// if the core is on another machine, because it receives a credential; ALLOW_PLAINTEXT=trusted-network allows http:// on a network that nobody else can read.",
    );
  }
  return url?.origin ?? text;
}

/**
 * Returns whether credentials may travel to or from `host` without TLS: on this machine, or if ALLOW_PLAINTEXT says
 * that the network is trusted. The value is a word instead of `true`, so that it tells operators what it allows. Calls
 * `problem` if ALLOW_PLAINTEXT has another value.
 */
export function mayBePlain(env: Environment, host: string, problem: Problem): boolean {
  const word = env.ALLOW_PLAINTEXT;
  if (word && word !== "trusted-network")
    problem("ALLOW_PLAINTEXT must be trusted-network, or unset.");
  return LOOPBACK.test(host) || word === "trusted-network";
}

/** Reads the files for TLS. Calls `problem` for each wrong variable, and for files without an https CORE_URL. */
export function readCoreTls(env: Environment, problem: Problem): CoreTls {
  const files = readTlsFiles(env, TLS_FILES, problem);
  if (!env.CORE_TLS_CLIENT_CERT !== !env.CORE_TLS_CLIENT_KEY) {
    problem("CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY must be given together.");
  }
  const hasTls = env.CORE_TLS_CA || env.CORE_TLS_CLIENT_CERT || env.CORE_TLS_CLIENT_KEY;
  if (hasTls && !/^\s*https:/i.test(env.CORE_URL ?? "")) {
    problem("CORE_TLS_CA, CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY need an https CORE_URL.");
  }
  return files;
}
