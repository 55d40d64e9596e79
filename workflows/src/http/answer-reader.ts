import type { Dispatcher } from "undici";
import { ProxyFailure } from "./egress-proxy.ts";
import { describeNetworkFailure, NOT_HTTP } from "./network-failure.ts";
import type { PinnedConnection } from "./pinned-connection.ts";

/** Why reading an answer ended: the answer is whole or was cut, the connection broke, or no request was sent. */
export type AnswerEnd =
  | { readonly kind: "whole" | "cut" }
  | { readonly kind: "broken"; readonly detail: string }
  /** The egress proxy failed before the request was sent. */
  | { readonly kind: "not_sent"; readonly failure: ProxyFailure };

/** The progress of an exchange. */
export type Seen = {
  isRequestSent: boolean;
  /** Whether a byte came, even one of an interim answer. */
  isHeard: boolean;
  status: number | undefined;
  bodyStart: Buffer;
  headers: string;
};

/** A handler for one undici request, and its progress. */
export type AnswerReader = {
  readonly handler: Dispatcher.DispatchHandler;
  readonly seen: Readonly<Seen>;
  /** Clears the timer that cuts a slow answer. */
  readonly stop: () => void;
};

/** Reading stops after this many bytes of an answer's body. ADR 0027 */
const MAX_BODY_BYTES = 64 * 1024;
/** The part of an answer's body that the owner sees. ADR 0027 */
const KEPT_BODY_BYTES = 1024;
/** The part of an answer's header lines that the owner sees. ADR 0027 */
const KEPT_HEADERS_LENGTH = 1024;
/** How long to wait for the rest of an answer after its status. ADR 0027 */
const REST_OF_ANSWER_MS = 1_000;

const TOO_MUCH_INTERIM = "too much came before the answer";
const STALE = "the sender's clock moved before the request could be sent";

/**
 * Creates a reader of the answer on a connection. The reader may call `end` more than once. If `isStale` returns true
 * when the connection is open, nothing of the request is sent.
 */
export function createAnswerReader(
  connection: PinnedConnection,
  end: (end: AnswerEnd) => void,
  isStale = () => false,
): AnswerReader {
  const seen: Seen = {
    isRequestSent: false,
    isHeard: false,
    status: undefined,
    bodyStart: Buffer.alloc(0),
    headers: "",
  };
  let bodyBytes = 0;
  let restTimer: NodeJS.Timeout | undefined;
  const cut = () => end({ kind: "cut" });
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (controller) => {
      if (isStale()) {
        end({ kind: "broken", detail: STALE });
        return controller.abort(new Error(STALE));
      }
      seen.isRequestSent = true;
      connection.expectAnswer((start) => {
        seen.isHeard = true;
        if (start.kind === "too_much_interim") {
          end({ kind: "broken", detail: TOO_MUCH_INTERIM });
        } else if (start.kind === "not_http") {
          end({ kind: "broken", detail: NOT_HTTP });
        } else if (start.kind === "too_long") {
          cut();
        } else if (start.kind === "status") {
          seen.status = start.status;
          // No upgrade was requested, so nothing more of this answer can follow.
          if (start.status === 101) cut();
          else restTimer = setTimeout(cut, REST_OF_ANSWER_MS);
        }
      });
    },
    // `readAnswerStarts` has read the status already.
    onResponseStart: (_controller, _status, headers) => {
      seen.headers = firstLines(headers);
    },
    onResponseData: (_controller, chunk) => {
      bodyBytes += chunk.length;
      const missing = KEPT_BODY_BYTES - seen.bodyStart.length;
      // The bytes are copied, because a slice would keep undici's whole buffer in memory.
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

/** Returns the first header lines, whole ones only. Cookies are left out, because they can be secrets. */
function firstLines(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  let lines = "";
  for (const [name, value] of Object.entries(headers)) {
    if (name === "set-cookie") continue;
    for (const one of [value].flat()) {
      const line = `${name}: ${one}\n`;
      if (lines.length + line.length > KEPT_HEADERS_LENGTH) return lines;
      lines += line;
    }
  }
  return lines;
}
