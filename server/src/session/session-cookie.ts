import { SESSION_LIFE_SECONDS } from "./session-secret.ts";

/**
 * With `__Host-`, browsers accept the cookie only over HTTPS and send it only to this host, for all of its paths. The
 * cookie of an embedded dashboard is partitioned and has another name. With the same name, a browser could not
 * replace an old cookie of the other sort, and would send both.
 */
const nameOf = (isEmbedded: boolean) => (isEmbedded ? "__Host-session-embedded" : "__Host-session");
/** The attributes of every session cookie. With `HttpOnly`, no script can read it. */
const ALWAYS = "Path=/; HttpOnly; Secure";

/**
 * Returns the cookie of a session. Browsers do not send it with requests of other sites' pages. If other sites may
 * embed the dashboard, browsers instead keep one cookie for each of those sites.
 */
export function sessionCookie(text: string, isEmbedded: boolean): string {
  return cookie(text, SESSION_LIFE_SECONDS, isEmbedded);
}

/** Returns a cookie that makes the browser forget the session. */
export function endedCookie(isEmbedded: boolean): string {
  return cookie("", 0, isEmbedded);
}

/** Returns the session's text from a `Cookie` header; `undefined` if there is none. */
export function sessionTextIn(header: string | null, isEmbedded: boolean): string | undefined {
  // Does not use `trim`, which also removes characters such as U+00A0. Browsers do not protect a name with such a
  // character before `__Host-`. Without the look-behind, the time would grow with the square of the number of inner
  // spaces.
  const trimmed = (pair: string) => pair.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, "");
  const pairs = (header ?? "").split(";").map((pair) => trimmed(pair).split("="));
  return pairs.find(([name]) => name === nameOf(isEmbedded))?.[1];
}

function cookie(value: string, maxAgeSeconds: number, isEmbedded: boolean): string {
  const sent = isEmbedded ? "SameSite=None; Partitioned" : "SameSite=Strict";
  return `${nameOf(isEmbedded)}=${value}; ${ALWAYS}; ${sent}; Max-Age=${maxAgeSeconds}`;
}
