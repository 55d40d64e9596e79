import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createConnections } from "./connections.ts";
import { type Listener, listen, type NodeResponse } from "./listener.ts";

let listener: Listener;
/** Requests that were read and not answered. */
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
  for (const response of waiting) response.end();
  for (const agent of agents.splice(0)) agent.destroy();
  await listener.close();
});

/** A client of HTTP/1.1 with one connection that it keeps; resolves with what the answer says of it. */
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

/** A session of HTTP/2; `ask` resolves with the status of an answer. */
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
const canConnect = () =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(listener.port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });

describe("a listener that drains, ADR 0043", () => {
  it("serves kept and new connections of HTTP/1.1, and closes each behind its answer", async () => {
    const ask = keepingClient();
    expect(await ask()).toBe("keep-alive");
    listener.drain();
    expect(await ask()).toBe("close");
    expect(await keepingClient()()).toBe("close");
    // On a new connection.
    expect(await ask()).toBe("close");
  });

  it("tells who is being answered", async () => {
    isPrompt = false;
    const answered = keepingClient()();
    await untilWaiting();
    listener.drain();
    waiting[0]?.end();
    expect(await answered).toBe("close");
  });

  it("lets sessions of HTTP/2 be, until their next answer: what was sent by then is answered", async () => {
    const { session, ask, goneAway } = await connect();
    expect(await ask()).toBe(200);
    listener.drain();
    const late = await connect();
    expect([session.closed, late.session.closed]).toEqual([false, false]);
    expect(await Promise.all([ask(), late.ask()])).toEqual([200, 200]);
    // Before the answer's end: who asks again when it has come is on another connection.
    expect([session.closed, late.session.closed]).toEqual([true, true]);
    for (const gone of [goneAway, late.goneAway]) {
      expect(await gone).toEqual([http2.constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1]);
    }
  });

  it("tells a session of HTTP/2 by an answer beside which nothing is in flight", async () => {
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
  it("takes no connection, ends idle ones, and waits for what is in flight in both versions", async () => {
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
    expect(await canConnect()).toBe(false);
    await goneAway;
    // Nothing was asked on it.
    await once(idle, "close");
    expect(isClosed).toBe(false);
    for (const response of waiting) response.end();
    expect(await answers).toEqual(["close", 200]);
    await Promise.all([closed, closing]);
  });

  it("closes beside a session of HTTP/2 that has just been cut", async () => {
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
