import type { Dispatcher } from "undici";
import { createAnswerReader, type Exchange } from "./answer-reader.ts";
import type { ConnectionPool, Lease } from "./connection-pool.ts";
import { describeNetworkFailure } from "./network-failure.ts";
import type { SafeTarget } from "./target-guard.ts";

/** One POST, ready to be sent. */
export type PostRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** What came of a POST; details hold neither URL, name nor address. */
export type PostResult =
  | { readonly kind: "answered"; readonly status: number; readonly bodyStart: Buffer }
  | {
      readonly kind: "timeout" | "network_error";
      readonly detail: string;
      /** The status, when its head came and the rest did not. */
      readonly status: number | undefined;
    };

/** Where and until when a POST may be sent. */
export type PostScope = {
  readonly target: SafeTarget;
  readonly pool: ConnectionPool;
  /** Ends the attempt, wherever it is: the deadline covers the answer's body too. */
  readonly deadline: AbortSignal;
};

/**
 * Sends one POST to a checked target and reads the answer. §6.4
 *
 * A kept connection that the receiver closed just as the request was written says nothing about
 * the receiver, so the same request goes out once more on a fresh connection, if not a byte of an
 * answer came. A receiver that had acted on the first one sees the same event id twice, which §6.3
 * has it recognise.
 */
export async function postOnce(request: PostRequest, scope: PostScope): Promise<PostResult> {
  const { target, pool } = scope;
  const lease = pool.lease(target);
  const first = await exchange(request, lease, scope);
  if (!lease.isReused || !first.isUnheard) return first.result;
  return (await exchange(request, pool.leaseFresh(target), scope)).result;
}

/** A result, and whether it is that of a connection lost without a byte of an answer. */
type ExchangeResult = { readonly result: PostResult; readonly isUnheard: boolean };

async function exchange(
  request: PostRequest,
  { connection }: Lease,
  { target, pool, deadline }: PostScope,
): Promise<ExchangeResult> {
  const { promise, resolve } = Promise.withResolvers<Exchange | { readonly kind: "expired" }>();
  const reader = createAnswerReader(resolve);
  const expire = () => resolve({ kind: "expired" });
  deadline.addEventListener("abort", expire, { once: true });
  connection.expectAnswer();
  if (deadline.aborted) expire();
  else connection.client.dispatch(dispatchOptions(request), reader.handler);
  const ended = await promise;
  deadline.removeEventListener("abort", expire);
  if (ended.kind === "answered" && ended.isWhole) pool.release(target, connection);
  else connection.destroy();
  const { stage, status } = reader.progress;
  switch (ended.kind) {
    case "answered": {
      const { bodyStart } = ended;
      return { result: { kind: "answered", status: ended.status, bodyStart }, isUnheard: false };
    }
    case "expired":
      return { result: { kind: "timeout", detail: WAITED_FOR[stage], status }, isUnheard: false };
    case "broken": {
      const detail = describeNetworkFailure(ended.error);
      return {
        result: { kind: "network_error", detail, status },
        isUnheard: !connection.hasHeard(),
      };
    }
  }
}

const WAITED_FOR = {
  connecting: "no connection in time",
  waiting: "no answer in time",
  answering: "the answer was not whole in time",
} as const;

function dispatchOptions({ url, headers, body }: PostRequest): Dispatcher.DispatchOptions {
  const { pathname, search } = new URL(url);
  return { method: "POST", path: `${pathname}${search}`, headers: { ...headers }, body };
}
