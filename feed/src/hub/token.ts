import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { FeedError } from "../feed-error.ts";

const TOKEN = /^[\w-]{32,}$/;

/** Makes a token for the hub's addresses: 256 random bits. */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Reads the token of a file, which only its owner can read; makes both when there is no file. Rejects
 * with `invalid_option` when the file holds something else.
 */
export async function readToken(path: string): Promise<string> {
  try {
    // Not over a file that is there.
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
    `${path} holds no token, which is at least 32 letters, digits, - and _. Delete the file to have one made.`,
  );
}
