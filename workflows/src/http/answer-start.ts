import type { TLSSocket } from "node:tls";

/** What the bytes of an answer have said so far; `answer` is all of it from its status line on. */
export type AnswerStart =
  | { readonly kind: "status"; readonly status: number; readonly answer: Buffer }
  | { readonly kind: "not_http"; readonly answer: Buffer }
  | { readonly kind: "undecided" | "too_much_interim" };

/** Expects an answer from now on, and tells what its start says: with each read until it is decided. */
export type ExpectAnswer = (tell: (start: AnswerStart) => void) => void;

const STATUS_LINE = /^HTTP\/\d\.\d ([1-9]\d\d)[ \r\n]/;
const STATUS_LENGTH = "HTTP/1.1 200 ".length;
const HEAD_END = "\r\n\r\n";
/** How much may come before the answer itself. ADR 0027 */
const MAX_INTERIM_ANSWERS = 16;
const MAX_INTERIM_BYTES = 16 * 1024;

/**
 * Reads the start of every answer, and gives the answer back to the socket without the interim ones
 * before it. undici reads after this. It would take "100 Continue" for an error, and the event
 * would be sent eight times.
 */
export function readAnswerStarts(socket: TLSSocket): ExpectAnswer {
  let read: ReturnType<typeof createAnswerStartReader> | undefined;
  let tell: (start: AnswerStart) => void = () => undefined;
  socket.on("readable", () => {
    while (read) {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      const start = read(chunk);
      if (start.kind !== "undecided") read = undefined;
      if ("answer" in start) socket.unshift(start.answer);
      tell(start);
    }
  });
  return (tellStart) => {
    read = createAnswerStartReader();
    tell = tellStart;
  };
}

/**
 * Creates a reader of one answer's start, to be given chunk after chunk until it has decided.
 *
 * It reads the status as soon as that is there, and drops interim answers (1xx, but 101), which
 * RFC 9110 §15.2 has a client ignore, asked for or not.
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
  /** Drops an interim answer up to its end, if that came, or up to what may begin its end. */
  const dropInterim = () => {
    const end = unread.indexOf(HEAD_END);
    isInInterim = end < 0;
    drop(isInInterim ? Math.max(0, unread.length - HEAD_END.length + 1) : end + HEAD_END.length);
  };
  const isTooMuch = () => interimAnswers > MAX_INTERIM_ANSWERS || interimBytes > MAX_INTERIM_BYTES;
  return (chunk) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    if (isInInterim) dropInterim();
    while (!isInInterim && !isTooMuch()) {
      const start = unread.toString("latin1", 0, STATUS_LENGTH);
      if (start.length < STATUS_LENGTH && isPrefix(start)) break;
      const status = Number(STATUS_LINE.exec(start)?.[1]);
      if (Number.isNaN(status)) return { kind: "not_http", answer: unread };
      if (status >= 200 || status === 101) return { kind: "status", status, answer: unread };
      interimAnswers += 1;
      dropInterim();
    }
    return { kind: isTooMuch() ? "too_much_interim" : "undecided" };
  };
}

/** Whether more bytes may still make a status line of it. */
function isPrefix(start: string): boolean {
  return "HTTP/".startsWith(start.slice(0, "HTTP/".length));
}
