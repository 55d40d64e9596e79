import type { TLSSocket } from "node:tls";

/** The start of an answer, as far as it was read. `answer` holds its bytes from the status line on. */
export type AnswerStart =
  | { readonly kind: "status"; readonly status: number; readonly answer: Buffer }
  | { readonly kind: "undecided" | "too_much_interim" | "not_http" | "too_long" };

/**
 * Expects the next answer. Calls `tell` after each read until the start is decided. Then calls it with `too_long` after
 * each read beyond the limit of the whole answer.
 */
export type ExpectAnswer = (tell: (start: AnswerStart) => void) => void;

const STATUS_LINE = /^HTTP\/\d\.\d ([1-9]\d\d)[ \r\n]/;
const STATUS_LENGTH = "HTTP/1.1 200 ".length;
/** The end of a head. A lone LF ends a line too. RFC 9112 §2.2 */
const HEAD_END = /\r?\n\r?\n/;
const HEAD_END_LENGTH = 4;
const EMPTY_LINES = /^[\r\n]+/;
/** Limits of interim answers before the final one. ADR 0027 */
const MAX_INTERIM_ANSWERS = 16;
const MAX_INTERIM_BYTES = 16 * 1024;
/**
 * The limit of a whole answer: a body of 64 KiB (ADR 0027), and 16 KiB for the head, reason phrase and chunk headers.
 * The body's own limit does not count these.
 */
const MAX_ANSWER_BYTES = (64 + 16) * 1024;

/**
 * Reads the start of every answer before undici does, and puts the answer back into the socket without interim answers.
 * To undici, "100 Continue" is an error. Without this, a receiver that sends it would get the event eight times.
 */
export function readAnswerStarts(socket: TLSSocket): ExpectAnswer {
  let read: ReturnType<typeof createAnswerStartReader> | undefined;
  let tell: (start: AnswerStart) => void = () => undefined;
  let limit = Number.POSITIVE_INFINITY;
  /** The bytes taken out of the socket, earlier answers included. */
  const taken = () => socket.bytesRead - socket.readableLength;
  socket.on("readable", () => {
    if (read === undefined && taken() > limit) tell({ kind: "too_long" });
    while (read) {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      const start = read(chunk);
      if (start.kind !== "undecided") read = undefined;
      if ("answer" in start) {
        socket.unshift(start.answer);
        limit = taken() + MAX_ANSWER_BYTES;
      }
      tell(start);
    }
  });
  return (tellStart) => {
    read = createAnswerStartReader();
    tell = tellStart;
  };
}

/**
 * Creates a reader of one answer's start. Its caller passes chunks until the reader has decided.
 *
 * The reader takes the status as soon as it is complete. It drops interim answers (1xx except 101), which a client must
 * be able to parse, and may ignore, even if it did not ask for them (RFC 9110 §15.2). It also drops empty lines, which
 * count towards the limit of bytes. It refuses an answer that is not HTTP: undici's parser, which reads the rest, would
 * accept other protocols, for example RTSP.
 */
export function createAnswerStartReader(): (chunk: Buffer) => AnswerStart {
  let unread: Buffer = Buffer.alloc(0);
  let isInInterim = false;
  let interimAnswers = 0;
  let interimBytes = 0;

  const drop = (bytes: number) => {
    interimBytes += bytes;
    unread = unread.subarray(bytes);
  };
  /** Drops an interim answer up to its end. If the end is not there, keeps only bytes that may begin it. */
  const dropInterim = () => {
    const end = HEAD_END.exec(unread.toString("latin1"));
    isInInterim = end === null;
    drop(end ? end.index + end[0].length : Math.max(0, unread.length - HEAD_END_LENGTH + 1));
  };
  const isTooMuch = () => interimAnswers > MAX_INTERIM_ANSWERS || interimBytes > MAX_INTERIM_BYTES;
  return (chunk) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    if (isInInterim) dropInterim();
    while (!isInInterim && !isTooMuch()) {
      const start = unread.toString("latin1", 0, STATUS_LENGTH);
      const [empty] = EMPTY_LINES.exec(start) ?? [];
      if (empty !== undefined) {
        drop(empty.length);
        continue;
      }
      if (start.length < STATUS_LENGTH && isPrefix(start)) break;
      const status = Number(STATUS_LINE.exec(start)?.[1]);
      if (Number.isNaN(status)) return { kind: "not_http" };
      if (status >= 200 || status === 101) return { kind: "status", status, answer: unread };
      interimAnswers += 1;
      dropInterim();
    }
    return { kind: isTooMuch() ? "too_much_interim" : "undecided" };
  };
}

/** Whether `start` can still become a status line. */
function isPrefix(start: string): boolean {
  return "HTTP/".startsWith(start.slice(0, "HTTP/".length));
}
