import { DomainError, ErrorCode } from "../common/errors.ts";

const MAX_LENGTH = 2_048;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Parses the URL that a session links back to, and returns its stored form. Returns `undefined` for an empty text.
 * Fails with `invalid_parameter` unless the URL is `https`, or `http` on localhost, without user info. ADR 0038
 */
export function parseReturnUrl(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && isSafe(url) && url.href.length <= MAX_LENGTH) return url.href;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    `return_url accepts an https URL, or an http URL of localhost, without user info, of at most ${MAX_LENGTH} characters.`,
  );
}

function isSafe({ protocol, hostname, username, password }: URL): boolean {
  const isWeb = protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname));
  return isWeb && username === "" && password === "";
}
