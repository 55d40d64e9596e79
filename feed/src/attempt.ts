import type { Connection, WaitReason } from "./connection.ts";
import type { ActivityPage, Me } from "./contract.ts";
import { FeedError } from "./feed-error.ts";
import { errorFromAnswer } from "./refusal.ts";

/** The longest time from a request to the end of its answer. §4.4.8 */
const TIMEOUT_MS = 15_000;

/** The headers of an answer. */
export type Headers = { get(name: string): string | null };

/** How one request ended. A failure that must not be retried is thrown as a `FeedError` instead. */
export type Outcome<Body> =
  | { readonly kind: "answered"; readonly body: Body; readonly headers: Headers }
  | {
      readonly kind: "failed";
      /** The error that the runtime's fetch threw, for example because of a certificate. */
      readonly cause?: unknown;
      readonly reason: WaitReason;
      /** The value of `Retry-After`; undefined if it is absent or invalid. */
      readonly retryAfterMs: number | undefined;
    };

/** A GET request. */
export interface Get {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** How many seconds the service may wait for records before it answers with an empty page. RFC 7240 */
  readonly waitSeconds?: number;
}

/** Makes one request. If `signal` aborts, rejects with its reason. */
export async function attempt<Body>(
  { apiKey, baseUrl, fetch }: Connection,
  { path, query = {}, waitSeconds }: Get,
  signal: AbortSignal | undefined,
): Promise<Outcome<Body>> {
  signal?.throwIfAborted();
  const url = new URL(`${baseUrl}${path}`);
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
  const headers: Record<string, string> = { authorization: `Bearer ${apiKey}` };
  if (waitSeconds !== undefined) headers.prefer = `wait=${waitSeconds}`;

  const ended = new AbortController();
  const abort = () => ended.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ended.abort();
  }, TIMEOUT_MS);
  try {
    // Redirects are not followed: only the service may receive the key.
    const answer = await fetch(url.href, { headers, signal: ended.signal, redirect: "manual" });
    return read(answer.status, answer.headers, await answer.text(), { baseUrl, path });
  } catch (error) {
    if (error instanceof FeedError) throw error;
    signal?.throwIfAborted();
    const reason = isLate ? "timeout" : "network_error";
    return { kind: "failed", reason, retryAfterMs: undefined, cause: error };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

function read<Body>(
  status: number,
  headers: Headers,
  text: string,
  { baseUrl, path }: Pick<Connection, "baseUrl"> & Pick<Get, "path">,
): Outcome<Body> {
  if (status === 200) {
    // An answer that is cut off, or that a proxy wrote, does not parse. It counts as a network failure.
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && isAnswer(path, body)) {
      return { kind: "answered", body: body as Body, headers }; // openapi.yaml describes the rest.
    }
  }
  const reason = reasonOf(status);
  if (reason === undefined) throw errorFromAnswer(status, text, `${baseUrl}${path}`);
  return { kind: "failed", reason, retryAfterMs: parseRetryAfter(headers.get("retry-after")) };
}

type Parts = {
  readonly data?: Partial<Me>;
  readonly pagination?: Partial<ActivityPage["pagination"]>;
};

/** Tells whether a body comes from this API. Another API's body may have `data` too. */
function isAnswer(path: string, { data, pagination }: Parts): boolean {
  if (path === "/me") return typeof data?.key?.expires_at === "string";
  if (!Array.isArray(data) || typeof pagination?.has_more !== "boolean") return false;
  // Only an empty last page may lack a cursor. After any other page without a cursor, the next request would get the
  // same records again. §2.4
  return !!pagination.next_cursor || (!pagination.has_more && data.length === 0);
}

/** Returns why a request with this status is retried; undefined if it must not be. §7 */
function reasonOf(status: number): WaitReason | undefined {
  if (status === 429) return "rate_limit_exceeded";
  if (status === 503) return "temporarily_unavailable";
  return status === 408 || status >= 500 ? "server_error" : undefined;
}

/** Parses `Retry-After`, which is seconds or a date. RFC 9110 */
function parseRetryAfter(text: string | null): number | undefined {
  if (text === null || text.trim() === "") return undefined;
  const seconds = Number(text);
  if (!Number.isNaN(seconds)) return seconds < 0 ? undefined : seconds * 1_000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - Date.now());
}
