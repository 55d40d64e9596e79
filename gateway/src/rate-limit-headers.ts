const COPIED = [
  ["ratelimit", "RateLimit"],
  ["ratelimit-policy", "RateLimit-Policy"],
] as const;

/** Returns the two response headers that are copied from the core, names and values in turn. */
export function rateLimitHeaders(headers: Headers): string[] {
  const copied: string[] = [];
  for (const [from, to] of COPIED) {
    const value = headers.get(from);
    if (value !== null) copied.push(to, value);
  }
  return copied;
}
