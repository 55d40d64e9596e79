// Rules for environment variables that the core, the gateway and deliveries share. They are written by hand, because
// most span several variables and tell the operator what to do. In zod they would be functions too, and zod takes 20 MB
// in each process.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;
/** Reports a wrong variable. `text` is one sentence: the variable's name, and what it must be. */
export type Problem = (text: string) => void;

/** Names every missing or wrong variable, one a line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const UNSAFE_TARGETS = ["WEBHOOK_ALLOWED_TARGETS", "WEBHOOK_EXTRA_CA"];
const HIGHEST_PORT = 65_535;
const ALLOWED_TARGET = /^\S+:\d{1,5}$/;
/**
 * The characters of a service credential. Other text is refused early, because a header would refuse it with an error
 * that quotes the credential.
 */
export const CREDENTIAL = /^[\x21-\x7e]+$/;

/** Returns the settings that `read` returns. If it reported problems, throws one ConfigError with each of them once. */
export function readSettings<Config extends object>(
  read: (problem: Problem) => Config,
): Readonly<Config> {
  const problems = new Set<string>();
  const config = read((text) => problems.add(text));
  if (problems.size > 0) throw new ConfigError([...problems].join("\n"));
  return Object.freeze(config);
}

/**
 * Reads a whole number from `lowest` to `highest`, below 10⁹. Returns `undefined` if it is unset or wrong, and reports
 * a wrong one.
 */
export function readWholeNumber(
  env: Environment,
  name: string,
  [lowest, highest]: readonly [number, number],
  problem: Problem,
): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= lowest && value <= highest) return value;
  problem(`${name} must be a whole number from ${lowest} to ${highest}.`);
  return undefined;
}

/** Reads a list whose items are separated by commas. Spaces around items and empty items do not count. */
export function readList(env: Environment, name: string): string[] {
  const items = (env[name] ?? "").split(",").map((item) => item.trim());
  return items.filter((item) => item !== "");
}

/**
 * Reads a port to listen on; 0 means any free one. Returns `undefined` if it is unset or wrong, and reports a wrong
 * one.
 */
export function readPort(
  env: Environment,
  name: string,
  problem: Problem,
  highest = HIGHEST_PORT,
): number | undefined {
  return readWholeNumber(env, name, [0, highest], problem);
}

/**
 * Reads a secret: the variable `name`, or the content of the file that `name`_FILE names, without its final newline.
 * Orchestrators pass secrets as such files. Returns `""` if neither is set. Reports a problem, without the content, and
 * returns `undefined` if both are set, or if the file is empty or cannot be read.
 */
export function readSecret(env: Environment, name: string, problem: Problem): string | undefined {
  const path = env[`${name}_FILE`];
  if (!path) return env[name] ?? "";
  if (env[name]) {
    problem(`${name} and ${name}_FILE are both set: unset one of them.`);
    return undefined;
  }
  try {
    const text = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    if (text !== "") return text;
  } catch {
    // Drops the error, because its message would repeat the path, which may be a secret by mistake.
  }
  problem(
    `${name}_FILE must be the path of a file that this process can read, with the secret in it.`,
  );
  return undefined;
}

/**
 * Reads a service credential like `readSecret`. Returns `""` if there is none. Reports a credential that is missing or
 * not visible ASCII. `purpose` ends that message: it names the permission that the credential needs.
 */
export function readCredential(
  env: Environment,
  name: string,
  purpose: string,
  problem: Problem,
): string {
  const text = readSecret(env, name, problem);
  if (text === undefined) return "";
  if (!CREDENTIAL.test(text)) problem(`${name} must be a service credential ${purpose}.`);
  return text;
}

/**
 * Reads the `host:port` pairs of WEBHOOK_ALLOWED_TARGETS, for development and tests only. Attempts at these targets go
 * to this machine.
 */
export function readAllowedTargets(env: Environment, problem: Problem): ReadonlySet<string> {
  const targets = readList(env, "WEBHOOK_ALLOWED_TARGETS");
  if (!targets.every((target) => ALLOWED_TARGET.test(target))) {
    problem("WEBHOOK_ALLOWED_TARGETS must be host:port pairs separated by commas.");
  }
  return new Set(targets);
}

/**
 * Reports each variable that allows webhook targets which production forbids, unless ALLOW_UNSAFE_TARGETS says that
 * this is development. §6
 */
export function refuseUnsafeTargets(env: Environment, problem: Problem): void {
  const word = env.ALLOW_UNSAFE_TARGETS;
  if (word && word !== "development")
    problem("ALLOW_UNSAFE_TARGETS must be development, or unset.");
  if (word === "development") return;
  for (const name of UNSAFE_TARGETS.filter((each) => env[each])) {
    problem(
      `${name} is for development and tests: unset it, or set ALLOW_UNSAFE_TARGETS=development on a machine without real accounts.`,
    );
  }
}

/**
 * Reads the PEM file that a variable names. Reports a file that is empty or cannot be read, without repeating the
 * variable's value.
 */
export function readPem(env: Environment, name: string, problem: Problem): string | undefined {
  const path = env[name];
  if (!path) return undefined;
  try {
    const text = readFileSync(path, "utf8");
    if (text !== "") return text;
  } catch {
    // Drops the error, because its message would repeat the path, which may be a secret by mistake.
  }
  problem(`${name} must be the path of a PEM file that this process can read.`);
  return undefined;
}

/** Reads the PEM file of a CA like `readPem`. Reports a file without a certificate. A file may hold several. */
export function readCa(env: Environment, name: string, problem: Problem): string | undefined {
  const ca = readPem(env, name, problem);
  if (ca && !succeeds(() => new X509Certificate(ca))) {
    problem(`${name} must be the path of a PEM file with a CA's certificate.`);
  }
  return ca;
}

/** The PEM files of one end of TLS: CAs to trust, and a certificate with its key. */
type TlsFile = "ca" | "cert" | "key";

/**
 * Reads the PEM files that these variables name. Reports files that TLS cannot use, because TLS's own error would come
 * only with the first connection, and name no variable.
 */
export function readTlsFiles(
  env: Environment,
  names: Readonly<Record<TlsFile, string>>,
  problem: Problem,
): { readonly [file in TlsFile]?: string } {
  const ca = readCa(env, names.ca, problem);
  const cert = readPem(env, names.cert, problem);
  const key = readPem(env, names.key, problem);
  if (cert && key && !succeeds(() => createSecureContext({ cert, key }))) {
    problem(`${names.cert} and ${names.key} must be the PEM files of a certificate and its key.`);
  }
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

function succeeds(use: () => unknown): boolean {
  try {
    use();
    return true;
  } catch {
    return false;
  }
}
