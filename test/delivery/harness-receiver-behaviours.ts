import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Behaviour } from "./harness-receiver.ts";

/** Answers with a status and a short body. Keeps the connection open. */
export const answer =
  (status: number, extraHead = "", body = "ok"): Behaviour =>
  (socket) => {
    const length = Buffer.byteLength(body);
    socket.write(`HTTP/1.1 ${status} S\r\n${extraHead}content-length: ${length}\r\n\r\n${body}`);
  };

/** Writes a text and nothing more. Leaves the connection open. */
export const write =
  (text: string): Behaviour =>
  (socket) => {
    socket.write(text);
  };

/** Writes a text, then resets the connection. */
export const writeAndReset =
  (text: string): Behaviour =>
  (socket) => {
    if (text === "") reset(socket);
    else socket.write(text, () => setTimeout(() => reset(socket), 20));
  };

/** Writes a text, then closes the connection normally. */
export const writeAndEnd =
  (text: string): Behaviour =>
  (socket) => {
    socket.end(text);
  };

/** Writes a head, then a text again at each interval, for ever. */
export const trickle =
  (head: string, everyMs: number, text = "x"): Behaviour =>
  (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(text), everyMs);
    socket.on("close", () => clearInterval(timer));
  };

/** Writes a head, then a byte again and again, as fast as the other side reads, for ever. */
export const flood =
  (head: string, byte = "x"): Behaviour =>
  (socket) => {
    socket.write(head);
    const chunk = Buffer.alloc(16 * 1024, byte);
    const pour = () => {
      while (!socket.destroyed) if (!socket.write(chunk)) return;
    };
    socket.on("drain", pour);
    pour();
  };

/** Resets a connection with RST, below TLS. */
export function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) {
    // The TCP socket below TLS, which is not in the types. Only that socket can be reset.
    const { _parent } = socket as unknown as { _parent?: Socket };
    _parent?.resetAndDestroy();
    if (_parent) return;
  }
  socket.resetAndDestroy();
}
