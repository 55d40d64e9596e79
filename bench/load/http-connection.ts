import { connect, type Socket } from "node:net";
import { findHttpHead } from "./http-head.ts";

/** An answer's status and where its body lies. */
export type Answer = { readonly status: number; readonly body: Buffer };

type Waiting = { resolve(answer: Answer): void; reject(error: Error): void };

const STATUS_OFFSET = "HTTP/1.1 ".length;

/**
 * One keep-alive connection with one request on it at a time. It understands what the measured servers
 * send and no more, so that the client takes little of the processor they are measured on.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #chunks: Buffer[] = [];
  #received = 0;
  /** Bytes of the answer's head and of the whole answer, once the head is there. */
  #head = 0;
  #whole = 0;

  constructor(port: number) {
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true });
    this.#socket.on("data", (chunk) => this.#receive(chunk));
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  /** Sends the bytes of a whole request and waits for its answer. */
  send(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error("the connection is closed"));
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    if (this.#whole === 0) this.#readHead();
    if (this.#whole > 0 && this.#received >= this.#whole) this.#answer();
  }

  #readHead(): void {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    const [bytes = Buffer.alloc(0)] = this.#chunks;
    try {
      const head = findHttpHead(bytes);
      if (head === undefined) return;
      this.#head = head.headLength;
      this.#whole = head.headLength + head.bodyLength;
    } catch (error) {
      this.#fail(error as Error); // it throws nothing else
    }
  }

  #answer(): void {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const waiting = this.#waiting;
    const head = this.#head;
    this.#chunks = [];
    this.#received = this.#whole = this.#head = 0;
    this.#waiting = undefined;
    if (bytes === undefined) return;
    const status = Number(bytes.toString("latin1", STATUS_OFFSET, STATUS_OFFSET + 3));
    waiting?.resolve({ status, body: bytes.subarray(head) });
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.close();
  }
}
