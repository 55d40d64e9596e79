/** What the page may load, and where from: from here, and nothing else. */
const CONTENT = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
];
const YEAR_SECONDS = 31_536_000;

/**
 * The headers of every answer to a browser at `origin`: nobody frames the page but the origins that may embed it,
 * and it tells nobody where it was.
 */
export function securityHeaders(
  origin: string,
  frameAncestors: readonly string[],
): ReadonlyMap<string, string> {
  const isEmbedded = frameAncestors.length > 0;
  const ancestors = isEmbedded ? frameAncestors.join(" ") : "'none'";
  return new Map([
    ["content-security-policy", [...CONTENT, `frame-ancestors ${ancestors}`].join("; ")],
    ["referrer-policy", "no-referrer"],
    ["x-content-type-options", "nosniff"],
    ["cross-origin-opener-policy", "same-origin"],
    // A site that isolates itself embeds only what says that it may be.
    ["cross-origin-resource-policy", isEmbedded ? "cross-origin" : "same-origin"],
    ...(origin.startsWith("https:")
      ? [["strict-transport-security", `max-age=${YEAR_SECONDS}`] as const]
      : []),
  ]);
}
