import { once } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { listenLocally } from "../../../test/harness/listening.ts";
import { createRecord } from "../testing/test-api.ts";
import { openEventStream } from "./event-stream.ts";
import { openWebSocket } from "./web-socket.ts";

/** Shorter than the time after which pings end a connection without answers. */
const BEFORE_PINGS_MS = 12_000;

const LONG = { ...createRecord(1), message: "x".repeat(50_000) };

/**
 * Opens a WebSocket whose client does not read, and sends records until about half of MAX_UNREAD_BYTES waits in Node.
 */
async function openUnread() {
  const server = createServer();
  const client = connect(await listenLocally(server), "127.0.0.1").on("error", () => {});
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write(
    "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  const [request, socket, head] = await once(server, "upgrade");
  socket.on("error", () => {});
  const listener = openWebSocket(request, socket, head) ?? expect.unreachable("it is refused");
  while (socket.writableLength < 500_000) listener.send(LONG);
  return { listener, client, socket, closed: once(socket, "close") };
}

it("closes although the client does not read", { timeout: BEFORE_PINGS_MS }, async () => {
  const { listener, closed } = await openUnread();
  listener.close();
  await closed;
});

it("keeps nothing of what follows an invalid frame, and closes", {
  timeout: BEFORE_PINGS_MS,
}, async () => {
  const { client, socket, closed } = await openUnread();
  const unmasked = Buffer.from([0x81, 0x01, 0x61]);
  client.write(unmasked);
  await expect.poll(() => socket.writableEnded).toBe(true);
  expect(socket.listenerCount("data")).toBe(0);
  // The flood never stops. If the hub still read frames, each chunk would count as a sign of life.
  const flood = setInterval(() => client.write(Buffer.alloc(1_000)), 10);
  onTestFinished(() => clearInterval(flood));
  await closed;
});

it("cuts off a client that leaves 1 MiB unread", { timeout: BEFORE_PINGS_MS }, async () => {
  const { listener, closed } = await openUnread();
  for (let sent = 0; sent < 20; sent += 1) listener.send(LONG);
  await closed;
});

it("cuts off a client of server-sent events that leaves 1 MiB unread", () => {
  // Without a socket, a response keeps all that is written to it.
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  onTestFinished(() => void response.emit("close"));
  const stream = openEventStream(response, "");
  for (let sent = 0; sent < 20; sent += 1) stream.send(LONG);
  expect(response.destroyed).toBe(false);
  stream.send(LONG);
  expect(response.destroyed).toBe(true);
});

it("cuts off a client that answers no ping", { timeout: BEFORE_PINGS_MS }, async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { socket, closed } = await openUnread();
  const unread = socket.writableLength;
  vi.advanceTimersByTime(15_000);
  // The ping is an empty frame.
  expect(socket.writableLength).toBe(unread + 2);
  vi.advanceTimersByTime(15_000);
  await closed;
});
