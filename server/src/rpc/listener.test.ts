import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isListening } from "../../../test/harness/listening.ts";
import { createConnections } from "./connections.ts";
import { HTTP2 } from "./http-server.ts";
import { type Listener, listen, type NodeResponse } from "./listener.ts";

let listener: Listener;
/** The responses of requests that were read and not answered. */
let waiting: NodeResponse[];
/** Whether requests are answered at once. */
let isPrompt: boolean;
const agents: http.Agent[] = [];
beforeEach(async () => {
  waiting = [];
  isPrompt = true;
  listener = await listen(
    (_request, response) => {
      if (isPrompt) response.end("answered");
      else waiting.push(response);
    },
    createConnections(),
    { host: "127.0.0.1", port: 0, tls: undefined },
  );
});
afterEach(async () => {
  vi.useRealTimers();
  for (const response of waiting) response.end();
  for (const agent of agents.splice(0)) agent.destroy();
  await listener.close();
});

/** Creates an HTTP/1.1 client with one kept connection. A request resolves with the answer's `Connection` header. */
function keepingClient() {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return async () => {
    const request = http.get({ agent, host: "127.0.0.1", port: listener.port });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    await once(response.resume(), "end");
    return response.headers.connection;
  };
}

/** Opens an HTTP/2 session; `ask` resolves with the status of an answer. */
async function connect() {
  const session = http2.connect(`http://127.0.0.1:${listener.port}`);
  await once(session, "connect");
  const ask = async () => {
    const stream = session.request({ ":path": "/" });
    const [headers] = await once(stream, "response");
    await once(stream.resume(), "end");
    return headers[":status"];
  };
  const goneAway = once(session, "goaway").then(([code, last]) => [code, last]);
  return { session, ask, goneAway, closed: once(session, "close") };
}

const untilWaiting = () => expect.poll(() => waiting.length).toBeGreaterThan(0);

it("cuts an HTTP/1.1 connection with more than 16 unanswered requests, ADR 0037", async () => {
  isPrompt = false;
  const socket = net.connect(listener.port, "127.0.0.1").on("error", () => undefined);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(16));
  await expect.poll(() => waiting.length).toBe(16);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000));
  await once(socket, "close");
  expect(waiting).toHaveLength(16);
});

it.each([
  { ":path": "/" },
  { ":path": "/", expect: "x" },
  { ":method": "CONNECT", ":authority": "core:443" },
])(
  "answers 512 streams of unknown callers at once, and then refuses the oldest one, ADR 0037: %o",
  async (head) => {
    isPrompt = false;
    const clients = await Promise.all(Array.from({ length: 6 }, connect));
    const [oldest, ...others] = clients.flatMap(({ session }, index) =>
      Array.from({ length: index < 5 ? 100 : 12 }, () => session.request(head)),
    );
    const refused = once(oldest as http2.ClientHttp2Stream, "error");
    await expect.poll(() => waiting.length).toBe(512);
    expect(oldest?.closed).toBe(false);
    const [, , , , , last] = clients;
    isPrompt = true;
    expect(await last?.ask()).toBe(200);
    expect(await refused).toMatchObject([{ message: expect.stringContaining("REFUSED_STREAM") }]);
    expect(others.some(({ closed }) => closed)).toBe(false);
    for (const { session } of clients) session.destroy();
  },
);

it("serves an HTTP/2 connection whose client has 20 MB of answers to read", async () => {
  isPrompt = false;
  const { session, ask } = await connect();
  for (let count = 0; count < 20; count++) session.request({ ":path": "/" });
  await expect.poll(() => waiting.length).toBe(20);
  for (const response of waiting.splice(0)) response.end(Buffer.alloc(1_000_000));
  isPrompt = true;
  expect(await ask()).toBe(200);
  session.destroy();
});

it("lets an HTTP/1.1 connection carry 10,000 requests, so that a balancer spreads them again, ADR 0037", async () => {
  const { headers } = await fetch(`http://127.0.0.1:${listener.port}`);
  expect(headers.get("keep-alive")).toBe("timeout=65, max=10000");
});

it("limits heads, bodies, streams, resets and idle connections, ADR 0037", async () => {
  isPrompt = false;
  http.get({ host: "127.0.0.1", port: listener.port }).on("error", () => {});
  await untilWaiting();
  const http1 = { headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 };
  expect(waiting[0]?.req.socket).toMatchObject({ server: http1 });
  const { session } = await connect();
  session.request({ ":path": "/" });
  await expect.poll(() => waiting.length).toBe(2);
  const settings = { maxConcurrentStreams: 100, maxHeaderListSize: 16_384 };
  await expect.poll(() => session.remoteSettings).toMatchObject(settings);
  // No client sees these two limits, so this checks only the options.
  expect(HTTP2).toMatchObject({ streamResetBurst: 100, streamResetRate: 50 });
  const { stream } = waiting[1] as http2.Http2ServerResponse;
  expect(stream.session).toMatchObject({ timeout: 65_000 });
  stream.session?.emit("timeout");
  expect(stream.session?.closed).toBe(true);
});

describe("a listener that drains, ADR 0043", () => {
  it("serves kept and new HTTP/1.1 connections, and closes each after its answer", async () => {
    const ask = keepingClient();
    expect(await ask()).toBe("keep-alive");
    listener.drain();
    expect(await ask()).toBe("close");
    expect(await keepingClient()()).toBe("close");
    // This request opens a new connection.
    expect(await ask()).toBe("close");
  });

  it("tells a client whose answer is in flight", async () => {
    isPrompt = false;
    const answered = keepingClient()();
    await untilWaiting();
    listener.drain();
    waiting[0]?.end();
    expect(await answered).toBe("close");
  });

  it("keeps HTTP/2 sessions until their next answer, and answers requests that were sent by then", async () => {
    const { session, ask, goneAway } = await connect();
    expect(await ask()).toBe(200);
    listener.drain();
    const late = await connect();
    expect([session.closed, late.session.closed]).toEqual([false, false]);
    expect(await Promise.all([ask(), late.ask()])).toEqual([200, 200]);
    // Each session closes before its answer ends, so the client's next request uses another connection.
    expect([session.closed, late.session.closed]).toEqual([true, true]);
    for (const gone of [goneAway, late.goneAway]) {
      expect(await gone).toEqual([http2.constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1]);
    }
  });

  it("tells an HTTP/2 session with its last answer in flight", async () => {
    const { session, ask } = await connect();
    isPrompt = false;
    const slow = ask();
    await untilWaiting();
    listener.drain();
    isPrompt = true;
    expect(await ask()).toBe(200);
    expect(session.closed).toBe(false);
    waiting[0]?.end();
    expect(await slow).toBe(200);
    expect(session.closed).toBe(true);
  });
});

describe("a listener that closes, ADR 0043", () => {
  it("refuses connections, ends idle ones, and waits for requests in flight in both versions", async () => {
    const idle = net.connect(listener.port, "127.0.0.1");
    await once(idle, "connect");
    isPrompt = false;
    const { ask, goneAway, closed } = await connect();
    const answers = Promise.all([keepingClient()(), ask()]);
    await expect.poll(() => waiting.length).toBe(2);
    let isClosed = false;
    const closing = listener.close().then(() => {
      isClosed = true;
    });
    expect(await isListening(listener.port)).toBe(false);
    await goneAway;
    // This connection closes first, because it had no request.
    await once(idle, "close");
    expect(isClosed).toBe(false);
    for (const response of waiting) response.end();
    expect(await answers).toEqual(["close", 200]);
    await Promise.all([closed, closing]);
  });

  it("cuts a request that is unanswered after 20 seconds", async () => {
    isPrompt = false;
    http.get({ host: "127.0.0.1", port: listener.port }).on("error", () => {});
    await untilWaiting();
    const [{ socket }] = waiting.map(({ req }) => req) as [http.IncomingMessage];
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const closing = listener.close();
    vi.advanceTimersByTime(19_999);
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
    await closing;
  });

  it("sends the rest of an answer that its client reads slowly", async () => {
    isPrompt = false;
    const socket = net.connect(listener.port, "127.0.0.1").pause();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await untilWaiting();
    waiting.pop()?.end(Buffer.alloc(20_000_000));
    const closing = listener.close();
    let bytes = 0;
    for await (const chunk of socket) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(20_000_000);
    await closing;
  });

  it("closes despite an HTTP/2 session that has just been cut", async () => {
    isPrompt = false;
    const { session } = await connect();
    session.on("error", () => {});
    session.request({ ":path": "/" }).on("error", () => {});
    await untilWaiting();
    const [cut] = waiting.splice(0) as [http2.Http2ServerResponse];
    cut.stream.session?.destroy();
    await listener.close();
  });
});
