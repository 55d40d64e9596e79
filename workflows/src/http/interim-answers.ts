import type { TLSSocket } from "node:tls";

/** What is known of the answer that a connection waits for. */
export type AnswerWatch = {
  /** Begins with a new request. */
  readonly expectAnswer: () => void;
  /** Whether a byte of an answer came since, be it of an interim one. */
  readonly hasHeard: () => boolean;
};

const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
const STATUS_LENGTH = "HTTP/1.1 100 ".length;
const HEAD_END = "\r\n\r\n";
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Keeps interim answers (1xx, but 101) from undici, which takes "100 Continue" for an error, while
 * RFC 9110 §15.2 has a client ignore the ones it did not ask for: the event would be sent eight
 * times to a receiver that took it every time.
 */
export function skipInterimAnswers(socket: TLSSocket): AnswerWatch {
  const readChunk = socket.read.bind(socket);
  let isBeforeAnswer = false;
  let hasHeard = false;
  let held: Buffer = Buffer.alloc(0);
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk: Buffer | null = readChunk(size);
      if (chunk === null) return null;
      hasHeard = true;
      if (!isBeforeAnswer) return chunk;
      held = withoutInterim(Buffer.concat([held, chunk]));
      if (isUndecided(held)) continue;
      isBeforeAnswer = false;
      return held;
    }
  };
  return {
    expectAnswer: () => {
      isBeforeAnswer = true;
      hasHeard = false;
      held = Buffer.alloc(0);
    },
    hasHeard: () => hasHeard,
  };
}

function withoutInterim(bytes: Buffer): Buffer {
  let rest: Buffer = bytes;
  while (isInterim(rest)) {
    const end = rest.indexOf(HEAD_END);
    if (end < 0) break;
    rest = rest.subarray(end + HEAD_END.length);
  }
  return rest;
}

function isUndecided(bytes: Buffer): boolean {
  if (bytes.length < STATUS_LENGTH) return "HTTP/1".startsWith(bytes.toString("latin1", 0, 6));
  return isInterim(bytes) && bytes.length < MAX_HEAD_BYTES;
}

function isInterim(bytes: Buffer): boolean {
  return INTERIM.test(bytes.toString("latin1", 0, STATUS_LENGTH));
}
