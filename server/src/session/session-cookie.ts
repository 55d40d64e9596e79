import { SESSION_LIFE_SECONDS } from "./session-secret.ts";

/** `__Host-` has browsers take it over HTTPS from this very host only, for all of its paths. */
const NAME = "__Host-session";
/** No script reads it. */
const ALWAYS = "Path=/; HttpOnly; Secure";

/**
 * Writes the cookie of a session. Browsers send it with no request of another site's page. Where other sites embed the
 * dashboard, browsers keep one cookie for each of them.
 */
export function sessionCookie(text: string, isEmbedded: boolean): string {
  return cookie(text, SESSION_LIFE_SECONDS, isEmbedded);
}

/** Has the browser forget the session. */
export function endedCookie(isEmbedded: boolean): string {
  return cookie("", 0, isEmbedded);
}

/** Finds the session in a `Cookie` header. */
export function sessionTextIn(header: string | null): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([name]) => name === NAME)?.[1];
}

function cookie(value: string, maxAgeSeconds: number, isEmbedded: boolean): string {
  const sent = isEmbedded ? "SameSite=None; Partitioned" : "SameSite=Strict";
  return `${NAME}=${value}; ${ALWAYS}; ${sent}; Max-Age=${maxAgeSeconds}`;
}
