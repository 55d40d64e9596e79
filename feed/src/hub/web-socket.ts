import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type Listener, MAX_UNREAD_BYTES, PING_EVERY_MS } from "./listener.ts";
import { CloseCode, createFrameReader, Opcode, writeFrame } from "./web-socket-frames.ts";

/** Every WebSocket server appends this to the client's `Sec-WebSocket-Key`. RFC 6455 §1.3 */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KEY = /^[A-Za-z0-9+/]{22}==$/;
/** How long a client may take to read the waiting bytes and the close frame. */
const CLOSE_WITHIN_MS = 1_000;

/**
 * Accepts an upgrade to a WebSocket. The WebSocket sends text, and handles ping, pong and close. It ignores clients'
 * messages. Returns undefined if the request is no WebSocket of version 13.
 */
export function openWebSocket(
  { headers }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Listener | undefined {
  const key = headers["sec-websocket-key"] ?? "";
  const isUpgrade = headers.upgrade?.toLowerCase() === "websocket";
  if (!isUpgrade || headers["sec-websocket-version"] !== "13" || !KEY.test(key)) return undefined;
  const accept = createHash("sha1").update(`${key}${GUID}`).digest("base64");
  socket.write(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );

  const readFrames = createFrameReader();
  let isAlive = true;
  const write = (opcode: number, payload: Buffer) => {
    if (socket.writable) socket.write(writeFrame(opcode, payload));
    if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
  };
  const end = (payload: Buffer) => {
    write(Opcode.Close, payload);
    // Drops all bytes that the client still sends. After an invalid frame, the frame reader would keep all of them in
    // memory.
    socket.off("data", read).resume();
    socket.end(() => socket.destroy());
    setTimeout(() => socket.destroy(), CLOSE_WITHIN_MS).unref();
  };
  const read = (chunk: Buffer) => {
    isAlive = true;
    for (const read of readFrames(chunk)) {
      if (!socket.writable) return;
      if ("problem" in read) end(codeBytes(read.problem));
      else if (read.opcode === Opcode.Close) end(read.payload);
      else if (read.opcode === Opcode.Ping) write(Opcode.Pong, read.payload);
    }
  };
  const timer = setInterval(() => {
    if (!isAlive) socket.destroy();
    isAlive = false;
    write(Opcode.Ping, Buffer.alloc(0));
  }, PING_EVERY_MS);
  socket.on("data", read).on("close", () => clearInterval(timer));
  if (head.length > 0) read(head);
  return {
    send: (activity) => write(Opcode.Text, Buffer.from(JSON.stringify(activity))),
    close: () => end(codeBytes(CloseCode.GoingAway)),
    onClose: (call) => socket.on("close", call),
  };
}

function codeBytes(code: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(code);
  return bytes;
}
