import { connect } from "node:net";

/** An answer's status and body. */
export type Answer = { readonly status: number; readonly body: Buffer };

const STATUS_OFFSET = "HTTP/1.1 ".length;
const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Finds the end of the head and of the body in some bytes. Returns `undefined` until the head is complete. */
export function findHttpHead(bytes: Buffer): { bodyAt: number; end: number } | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const length = LENGTH.exec(bytes.toString("latin1", 0, headEnd))?.[1];
  if (length === undefined) throw new Error("an HTTP message without Content-Length");
  const bodyAt = headEnd + HEAD_END.length;
  return { bodyAt, end: bodyAt + Number(length) };
}

/**
 * A keep-alive connection with one request at a time. It understands only what the measured servers send, so that the
 * client uses little of the shared processor.
 */
export class HttpConnection {
  readonly #socket: ReturnType<typeof connect>;
  #waiting: PromiseWithResolvers<Answer> | undefined;
  #chunks: Buffer[] = [];
  #received = 0;
  #head: ReturnType<typeof findHttpHead>;

  constructor(port: number) {
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true });
    this.#socket.on("data", (chunk) => this.#receive(chunk));
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  /** Sends a whole request and waits for its answer. */
  send(request: Buffer): Promise<Answer> {
    if (this.#socket.destroyed) return Promise.reject(new Error("the connection is closed"));
    this.#waiting = Promise.withResolvers();
    this.#socket.write(request);
    return this.#waiting.promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    // Concatenates the chunks only until it finds the head, and once the answer is complete.
    this.#head ??= findHttpHead(this.#bytes());
    if (this.#head === undefined || this.#received < this.#head.end) return;
    const [bytes, { bodyAt }, waiting] = [this.#bytes(), this.#head, this.#waiting];
    const status = Number(bytes.toString("latin1", STATUS_OFFSET, STATUS_OFFSET + 3));
    this.#chunks = [];
    this.#received = 0;
    this.#head = this.#waiting = undefined;
    waiting?.resolve({ status, body: bytes.subarray(bodyAt) });
  }

  #bytes(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.close();
  }
}
