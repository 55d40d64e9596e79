import type { Dispatcher } from "undici";
import { ProxyFailure } from "./egress-proxy.ts";
import { describeNetworkFailure } from "./network-failure.ts";
import type { PinnedConnection } from "./pinned-connection.ts";

/** Why an answer is read no further: it ended, its rest is not waited for, or the connection broke. */
export type AnswerEnd =
  | { readonly kind: "whole" | "cut" }
  | { readonly kind: "broken"; readonly detail: string }
  /** The egress proxy failed: nothing was sent. */
  | { readonly kind: "not_sent"; readonly failure: ProxyFailure };

/** What was seen of an exchange so far. */
export type Seen = {
  isRequestSent: boolean;
  /** Whether a byte came, be it of an interim answer. */
  isHeard: boolean;
  status: number | undefined;
  bodyStart: Buffer;
};

/** A handler for one undici request, and what it has seen so far. */
export type AnswerReader = {
  readonly handler: Dispatcher.DispatchHandler;
  readonly seen: Readonly<Seen>;
  /** Waits for nothing any longer. */
  readonly stop: () => void;
};

/** More of an answer's body than this is not read. ADR 0027 */
const MAX_BODY_BYTES = 64 * 1024;
/** What the owner gets to see of an answer's body. ADR 0027 */
const KEPT_BODY_BYTES = 1024;
/** What the rest of an answer gets to come once its status was read. ADR 0027 */
const REST_OF_ANSWER_MS = 1_000;

const TOO_MUCH_INTERIM = "too much came before the answer";

/** Creates a reader of the answer on a connection; `end` may be called more than once. */
export function createAnswerReader(
  connection: PinnedConnection,
  end: (end: AnswerEnd) => void,
): AnswerReader {
  const seen: Seen = {
    isRequestSent: false,
    isHeard: false,
    status: undefined,
    bodyStart: Buffer.alloc(0),
  };
  let bodyBytes = 0;
  let restTimer: NodeJS.Timeout | undefined;
  const cut = () => end({ kind: "cut" });
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: () => {
      seen.isRequestSent = true;
      connection.expectAnswer((start) => {
        seen.isHeard = true;
        if (start.kind === "too_much_interim") {
          end({ kind: "broken", detail: TOO_MUCH_INTERIM });
        } else if (start.kind === "status") {
          seen.status = start.status;
          // Nothing of an upgrade can follow: none was asked for.
          if (start.status === 101) cut();
          else restTimer = setTimeout(cut, REST_OF_ANSWER_MS);
        }
      });
    },
    // The parser forgives more than the reading of the start, as an empty line before the status.
    onResponseStart: (_controller, status) => {
      seen.status ??= status;
    },
    onResponseData: (_controller, chunk) => {
      bodyBytes += chunk.length;
      const missing = KEPT_BODY_BYTES - seen.bodyStart.length;
      // Copied: a slice would keep undici's whole buffer in memory with it.
      if (missing > 0) seen.bodyStart = Buffer.concat([seen.bodyStart, chunk.subarray(0, missing)]);
      if (bodyBytes >= MAX_BODY_BYTES) cut();
    },
    onResponseEnd: () => end({ kind: "whole" }),
    onResponseError: (_controller, error) =>
      end(
        error instanceof ProxyFailure
          ? { kind: "not_sent", failure: error }
          : { kind: "broken", detail: describeNetworkFailure(error) },
      ),
  };
  return { handler, seen, stop: () => clearTimeout(restTimer) };
}
