import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { FeedError } from "../feed-error.ts";

const TOKEN = /^[\w-]{32,}$/;

/** Creates a token of 256 random bits for the hub's addresses. */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Reads the token from a file. If there is no file, creates one with a new token that only its owner can read. Rejects
 * with `invalid_option` if the file holds something else.
 */
export async function readToken(path: string): Promise<string> {
  try {
    // The flag `wx` never overwrites an existing file.
    const token = createToken();
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: "wx" });
    return token;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const token = (await readFile(path, "utf8")).trim();
  if (TOKEN.test(token)) return token;
  throw new FeedError(
    "invalid_option",
    `${path} holds no token of at least 32 letters, digits, - and _. Delete the file to get a new one.`,
  );
}
