import type { Dispatcher } from "undici";

/** How an exchange with a receiver ended. */
export type Exchange =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly bodyStart: Buffer;
      /** Whether the answer was read to its end, so that the connection can carry another. */
      readonly isWhole: boolean;
    }
  | { readonly kind: "broken"; readonly error: Error };

/** How far an exchange has come. */
export type Progress = {
  stage: "connecting" | "waiting" | "answering";
  status: number | undefined;
};

/** A handler for one undici request and what it has seen so far. */
export type AnswerReader = {
  readonly handler: Dispatcher.DispatchHandler;
  readonly progress: Readonly<Progress>;
};

/** More of an answer's body than this is not waited for. ADR 0027 */
const MAX_BODY_BYTES = 64 * 1024;
/** What the owner gets to see of an answer's body. ADR 0027 */
const KEPT_BODY_BYTES = 1024;

/** Creates a reader that reports once, when the answer is whole, long enough, or broken. */
export function createAnswerReader(report: (exchange: Exchange) => void): AnswerReader {
  const progress: Progress = { stage: "connecting", status: undefined };
  let bodyStart = Buffer.alloc(0);
  let bodyBytes = 0;
  const reportAnswer = (isWhole: boolean) => {
    if (progress.status === undefined) return;
    report({ kind: "answered", status: progress.status, bodyStart, isWhole });
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: () => {
      progress.stage = "waiting";
    },
    onResponseStarted: () => {
      progress.stage = "answering";
    },
    onResponseStart: (_controller, status) => {
      // 1xx comes before the answer and is none.
      if (status >= 200) progress.status = status;
    },
    onResponseData: (_controller, chunk) => {
      bodyBytes += chunk.length;
      const missing = KEPT_BODY_BYTES - bodyStart.length;
      // Copied: a slice would keep undici's whole buffer in memory with it.
      if (missing > 0) bodyStart = Buffer.concat([bodyStart, chunk.subarray(0, missing)]);
      if (bodyBytes >= MAX_BODY_BYTES) reportAnswer(false);
    },
    onResponseEnd: () => reportAnswer(true),
    onResponseError: (_controller, error) => report({ kind: "broken", error }),
  };
  return { handler, progress };
}
