const COPIED = [
  ["ratelimit", "RateLimit"],
  ["ratelimit-policy", "RateLimit-Policy"],
] as const;

/** Returns the core's two rate limit headers for the response: name, value, name, value. */
export function rateLimitHeaders(headers: Headers): string[] {
  const copied: string[] = [];
  for (const [from, to] of COPIED) {
    const value = headers.get(from);
    if (value !== null) copied.push(to, value);
  }
  return copied;
}
