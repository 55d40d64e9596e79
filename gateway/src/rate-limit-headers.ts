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

/** Returns the headers as they are `ms` later, with a smaller `t`: the seconds until the limit leaves more requests. */
export function rateLimitAfter(headers: readonly string[], ms: number): string[] {
  const seconds = Math.floor(ms / 1_000);
  return headers.map((text) =>
    text.replace(/;t=(\d+)/, (_, reset: string) => `;t=${Math.max(0, Number(reset) - seconds)}`),
  );
}
