const BEARER = /^bearer +(\S+)$/i;
/** The form of an API key (§2.7). Nothing else is forwarded, so no client can pass a service credential on. */
const API_KEY = /^act_live_[0-9a-f]{64}$/;

/**
 * Finds the API key in a request's `Authorization` headers: exactly one header with the scheme `Bearer`, ignoring case.
 * Returns `undefined` for anything else. The core decides whether the key is valid.
 */
export function findApiKey(authorization: readonly string[]): string | undefined {
  const [value, second] = authorization;
  if (value === undefined || second !== undefined) return undefined;
  const token = BEARER.exec(value)?.[1];
  return token !== undefined && API_KEY.test(token) ? token : undefined;
}
