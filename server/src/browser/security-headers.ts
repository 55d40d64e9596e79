/** The page's content security policy. It allows only the page's own origin, and for images also `data:` URLs. */
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
 * Returns the headers of every answer to browsers at `origin`. Only `frameAncestors` may embed the page. The page
 * sends no referrer.
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
    // A site with cross-origin isolation embeds only pages with these two headers.
    ["cross-origin-resource-policy", isEmbedded ? "cross-origin" : "same-origin"],
    ...(isEmbedded ? [["cross-origin-embedder-policy", "require-corp"] as const] : []),
    ...(origin.startsWith("https:")
      ? [["strict-transport-security", `max-age=${YEAR_SECONDS}`] as const]
      : []),
  ]);
}
