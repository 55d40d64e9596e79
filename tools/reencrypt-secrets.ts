import { parseArgs } from "node:util";
import { ConfigError } from "@activity/runtime/environment";
import {
  type Reencrypted,
  readSecretStorageConfig,
  reencryptSecrets,
  secretKeyName,
} from "@activity/server";
import { databaseSentence } from "./database-error.ts";

const USAGE = `Re-encrypts stored signing secrets under the first of SECRET_KEYS, in the database that
DATABASE_URL names. Running instances are not disturbed; each must know that key already.

  node tools/reencrypt-secrets.ts            all that are under another key
  node tools/reencrypt-secrets.ts --drop ID  those under the key with this ID, to be removed from SECRET_KEYS

A key's ID is the first 8 hexadecimal characters of the SHA-256 of its bytes; without --drop all are listed.
Ends with status 1 while any of these secrets is left.`;

/** The maximum number of endpoints in a message. */
const MAX_NAMED = 10;

/** Thrown for an invalid command line. The message says how to correct it. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

try {
  const { values } = parseArgs({ options: { drop: { type: "string" } } });
  const { databaseUrl, secretKeys } = readSecretStorageConfig(process.env);
  const names = secretKeys.map(secretKeyName);
  const dropped = values.drop === undefined ? undefined : parseDropped(values.drop, names);
  report(await reencryptSecrets(databaseUrl, secretKeys, dropped), names, dropped);
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${sentenceOf(error)}\n`);
}

/** Checks the id of `--drop`. The error does not repeat it, because it may be a secret key by mistake. */
function parseDropped(name: string, [first, ...others]: readonly string[]): string {
  if (others.includes(name) && name !== first) return name;
  throw new UsageError(
    others.length === 0
      ? `SECRET_KEYS has one key only, ${first}; put the new one in front of it first.`
      : `--drop takes the ID of a key of SECRET_KEYS that is not the first: ${others.join(", ")}. The first is ${first}.`,
  );
}

function report(
  { count, left, undecryptable }: Reencrypted,
  [first, ...others]: readonly string[],
  dropped: string | undefined,
): void {
  const listed = dropped === undefined ? new Set([...others, ...left.keys()]) : [dropped];
  const lines = Array.from(listed, (name) => {
    const remaining = left.get(name) ?? 0;
    if (remaining > 0) process.exitCode = 1;
    return `${remaining} left under ${name}${noteOn(remaining, others.includes(name))}`;
  });
  process.stdout.write(
    [`${count} re-encrypted under ${first}`, ...lines].map((line) => `${line}\n`).join(""),
  );
  if (undecryptable.length > 0) {
    const named = undecryptable.slice(0, MAX_NAMED).join(", ");
    process.stderr.write(
      `The secrets of ${undecryptable.length} endpoints could not be decrypted, such as ${named}. SECRET_KEYS lacks their key, or they are damaged. Add the key, or replace the secrets with RotateSecret.\n`,
    );
  }
}

function noteOn(remaining: number, isKnown: boolean): string {
  if (!isKnown) return ": SECRET_KEYS lacks this key; add it and run this again";
  if (remaining > 0) return ": run this again once every instance has the first key in front";
  return ": once every instance has the first key in front, it can leave SECRET_KEYS";
}

/** Says what to do next. Adds the usage if the command line or a variable is wrong. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Replaces the message of Node's error, which would repeat the argument.
  if ("code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")) {
    return `The only option is --drop ID.\n\n${USAGE}`;
  }
  const isUsage = error instanceof UsageError || error instanceof ConfigError;
  return isUsage ? `${error.message}\n\n${USAGE}` : databaseSentence(error);
}
