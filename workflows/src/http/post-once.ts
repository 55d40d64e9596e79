import type { Dispatcher } from "undici";
import { type AnswerEnd, createAnswerReader, type Seen } from "./answer-reader.ts";
import type { ConnectionPool, Lease } from "./connection-pool.ts";
import { ProxyFailure } from "./egress-proxy.ts";
import type { SafeTarget } from "./target-guard.ts";

/** One POST, ready to be sent. */
export type PostRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Whether the clock has moved too far from the request's timestamp. Such a request is not sent. */
  readonly isStale?: () => boolean;
};

/** How a POST ended. Details hold no URL, name or address. */
export type PostResult =
  /** The status was read. `headers` holds the first header lines, `bodyStart` the first bytes of the body. */
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly headers: string;
      readonly bodyStart: Buffer;
    }
  | { readonly kind: "timeout" | "network_error"; readonly detail: string };

/** The target and the limits of a POST. */
export type PostScope = {
  readonly target: SafeTarget;
  readonly pool: ConnectionPool;
  /** Ends the attempt at any point. */
  readonly deadline: AbortSignal;
};

/**
 * A request is sent again only if its kept connection is lost within this time. A receiver that closes the connection
 * later had not closed it as idle, and may have worked on the request.
 */
const LOST_WITHIN_MS = 2_000;

/**
 * Sends one POST to a checked target and reads the answer. §6.4
 *
 * If a kept connection is lost at once, before any byte of an answer, the same request is sent once more on a new
 * connection. Most likely the receiver had closed the idle connection. It may have read the request, and then sees this
 * attempt twice. Rejects with a ProxyFailure when the egress proxy failed before the request was sent. ADR 0027
 */
export async function postOnce(request: PostRequest, scope: PostScope): Promise<PostResult> {
  const { target, pool } = scope;
  const lease = pool.lease(target);
  const first = await exchange(request, lease, scope);
  if (!lease.isReused || !first.isUnheard || request.isStale?.()) return first.result;
  try {
    return (await exchange(request, pool.leaseFresh(target), scope)).result;
  } catch (error) {
    // The receiver may have the first request, so the attempt counts as made, although the proxy failed later.
    if (first.isRequestSent && error instanceof ProxyFailure) return first.result;
    throw error;
  }
}

/** A result. `isUnheard`: the connection was lost at once, before any byte of an answer. */
type Exchange = {
  readonly result: PostResult;
  readonly isRequestSent: boolean;
  readonly isUnheard: boolean;
};

async function exchange(
  request: PostRequest,
  { connection }: Lease,
  { target, pool, deadline }: PostScope,
): Promise<Exchange> {
  const { promise, resolve: end } = Promise.withResolvers<AnswerEnd | { kind: "expired" }>();
  const { handler, seen, stop } = createAnswerReader(connection, end, request.isStale);
  const beganMs = performance.now();
  const expire = () => end({ kind: "expired" });
  deadline.addEventListener("abort", expire, { once: true });
  if (deadline.aborted) expire();
  else connection.client.dispatch(dispatchOptions(request), handler);
  const ended = await promise;
  deadline.removeEventListener("abort", expire);
  stop();
  if (ended.kind === "whole") pool.release(target, connection);
  else connection.destroy();
  if (ended.kind === "not_sent") throw ended.failure;
  const isAtOnce = performance.now() - beganMs < LOST_WITHIN_MS;
  const isUnheard = ended.kind === "broken" && !seen.isHeard && isAtOnce;
  return { result: resultOf(seen, ended), isRequestSent: seen.isRequestSent, isUnheard };
}

/** A status decides the result, however the exchange ended. */
function resultOf(
  { status, headers, bodyStart, isRequestSent }: Readonly<Seen>,
  ended: Exclude<AnswerEnd, { kind: "not_sent" }> | { readonly kind: "expired" },
): PostResult {
  if (status !== undefined) return { kind: "answered", status, headers, bodyStart };
  if (ended.kind === "broken") return { kind: "network_error", detail: ended.detail };
  const detail = isRequestSent ? "no answer in time" : "no connection in time";
  return { kind: "timeout", detail };
}

function dispatchOptions({ url, headers, body }: PostRequest): Dispatcher.DispatchOptions {
  const { pathname, search } = new URL(url);
  return { method: "POST", path: `${pathname}${search}`, headers: { ...headers }, body };
}
