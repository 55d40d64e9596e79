import { type Environment, type Problem, readPem } from "./environment.ts";

/** How a core with TLS is called, in PEM; the system's CAs and no certificate of one's own unless given. */
export type CoreTls = {
  /** The CA that signed the core's certificate. */
  readonly ca?: string;
  /** What is shown to the core, for mutual TLS. */
  readonly cert?: string;
  readonly key?: string;
};

/** Where a core is that runs elsewhere, and what opens it. */
export type CoreAddress = {
  readonly coreUrl: string;
  readonly coreTls: CoreTls;
  /** Returns the service credential: a function, so that printing the settings is harmless. */
  readonly revealCredential: () => string;
};

/** As a URL writes them, and as they are listened on. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/**
 * Reads where a core is, from CORE_URL, or `fallbackUrl` where it is unset, and the files that CORE_TLS_CA, CORE_TLS_CLIENT_CERT
 * and CORE_TLS_CLIENT_KEY name; `credential` is what opens it. Tells `problem` what is wrong.
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
 * Reads CORE_URL, an http or https address without anything behind it, or takes `fallback` where it is unset;
 * tells `problem` when it is no such address, and when it is plain http to another machine.
 */
export function readCoreUrl(env: Environment, fallback: string, problem: Problem): string {
  const text = env.CORE_URL || fallback;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.pathname === "/" && url.search === "" && url.username === "";
  if (!isBare || !["http:", "https:"].includes(url.protocol)) {
    problem("CORE_URL must be the core's address, such as http://127.0.0.1:50051.");
  } else if (!mayBePlain(env, url.hostname, problem) && url.protocol === "http:") {
    problem(
      "CORE_URL must begin with https:// where the core is on another machine, because a credential goes there; ALLOW_PLAINTEXT=trusted-network allows http:// on a network that nobody else can read.",
    );
  }
  return text;
}

/**
 * Tells whether credentials may travel to or from `host` without TLS: on this machine, or where ALLOW_PLAINTEXT says
 * that the network is trusted. Tells `problem` of any other word.
 */
export function mayBePlain(env: Environment, host: string, problem: Problem): boolean {
  const word = env.ALLOW_PLAINTEXT;
  if (word && word !== "trusted-network")
    problem("ALLOW_PLAINTEXT must be trusted-network, or unset.");
  return LOOPBACK.test(host) || word === "trusted-network";
}

function readCoreTls(env: Environment, problem: Problem): CoreTls {
  const ca = readPem(env, "CORE_TLS_CA", problem);
  const cert = readPem(env, "CORE_TLS_CLIENT_CERT", problem);
  const key = readPem(env, "CORE_TLS_CLIENT_KEY", problem);
  if (!env.CORE_TLS_CLIENT_CERT !== !env.CORE_TLS_CLIENT_KEY) {
    problem("CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY must be given together.");
  }
  const isGiven = env.CORE_TLS_CA || env.CORE_TLS_CLIENT_CERT || env.CORE_TLS_CLIENT_KEY;
  if (isGiven && !env.CORE_URL?.startsWith("https:")) {
    problem("CORE_TLS_CA, CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY need an https CORE_URL.");
  }
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}
