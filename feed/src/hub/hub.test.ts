import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Activity } from "../contract.ts";
import { createRecord, KEY, refuse, startTestApi, type TestApi } from "../testing/test-api.ts";
import { createToken, type Hub, startHub } from "./index.ts";

let api: TestApi;
let hub: Hub;
let token: string;
beforeEach(async () => {
  api = await startTestApi();
  token = createToken();
  hub = await startHub({ apiKey: KEY, baseUrl: api.baseUrl, port: 0, token });
  // After its second request the hub waits at the end of the feed.
  await expect.poll(() => api.asked.length).toBe(2);
});
afterEach(async () => {
  await hub.close();
  await api.close();
});

const urlOf = (path: string, query: Record<string, string> = {}) =>
  `http://127.0.0.1:${hub.port}${path}?${new URLSearchParams({ token, ...query })}`;

/** Stores records one by one, and waits after each until the hub has sent it. */
async function store(...numbers: readonly number[]): Promise<void> {
  const stream = await openEvents();
  for (const number of numbers) {
    api.store(createRecord(number));
    await stream.until(1);
  }
  stream.close();
}

/** Opens the server-sent events. `until` returns the next `count` events with a record. */
async function openEvents(
  query: Record<string, string> = {},
  headers: Record<string, string> = {},
) {
  const ended = new AbortController();
  const response = await fetch(urlOf("/events", query), { headers, signal: ended.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    response,
    close: () => ended.abort(),
    async until(count: number): Promise<{ id: string; activity: Activity }[]> {
      const events: { id: string; activity: Activity }[] = [];
      while (events.length < count) {
        const end = text.indexOf("\n\n");
        if (end < 0) {
          text += (await reader?.read())?.value ?? expect.unreachable("it ended");
          continue;
        }
        const [, id = "", data = ""] = /^id: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        if (data) events.push({ id, activity: JSON.parse(data) });
        text = text.slice(end + 2);
      }
      return events;
    },
  };
}
const numbersOf = (events: readonly { id: string }[]) =>
  events.map(({ id }) => Number(id.slice(4)));

describe("the hub's events", () => {
  it("bring each record to all listeners, with its id as position", async () => {
    const [one, other] = [await openEvents(), await openEvents()];
    expect(one.response.headers.get("content-type")).toBe("text/event-stream");
    api.store(createRecord(1));
    for (const stream of [one, other]) {
      expect(await stream.until(1)).toEqual([
        { id: createRecord(1).id, activity: createRecord(1) },
      ]);
      stream.close();
    }
  });

  it("continue after Last-Event-ID, or after ?after= of a reloaded page", async () => {
    await store(1, 2, 3, 4);
    const { id } = createRecord(2);
    const resumed = await openEvents({}, { "Last-Event-ID": id });
    expect(numbersOf(await resumed.until(2))).toEqual([3, 4]);
    const loaded = await openEvents({ after: id });
    expect(numbersOf(await loaded.until(2))).toEqual([3, 4]);
    const both = await openEvents({ after: createRecord(1).id }, { "Last-Event-ID": id });
    expect(numbersOf(await both.until(2))).toEqual([3, 4]);
    for (const stream of [resumed, loaded, both]) stream.close();
  });

  it("bring all kept records after a position that is too old or of another run", async () => {
    await store(1, 2);
    const stream = await openEvents({ after: "evt_unknown" });
    expect(numbersOf(await stream.until(2))).toEqual([1, 2]);
    stream.close();
  });

  it("bring no old record to a new page", async () => {
    await store(1, 2);
    const stream = await openEvents();
    api.store(createRecord(3));
    expect(numbersOf(await stream.until(1))).toEqual([3]);
    stream.close();
  });
});

describe("the hub's WebSocket", () => {
  const socketUrl = (query = {}) => urlOf("/socket", query).replace("http", "ws");
  async function openSocket(query = {}) {
    const socket = new WebSocket(socketUrl(query));
    const received: string[] = [];
    socket.addEventListener("message", ({ data }) => received.push(data));
    await once(socket, "open");
    return { socket, received };
  }

  it("sends each record, even a long one, as one text, and ?after= replays later ones", async () => {
    const long = { ...createRecord(1), message: "💜".repeat(30_000) };
    const middle = { ...createRecord(2), message: "ä".repeat(300) };
    const { socket, received } = await openSocket();
    for (const record of [long, middle]) api.store(record);
    await expect.poll(() => received.length).toBe(2);
    expect(received.map((text) => JSON.parse(text))).toEqual([long, middle]);
    const again = await openSocket({ after: long.id });
    await expect.poll(() => again.received).toEqual([JSON.stringify(middle)]);
    for (const each of [socket, again.socket]) each.close();
  });

  it("ignores clients' messages, answers their close, and closes with 1001 when it ends", async () => {
    const [leaving, staying] = [await openSocket(), await openSocket()];
    leaving.socket.send("x".repeat(2_000));
    leaving.socket.close(4_000, "enough");
    expect(await once(leaving.socket, "close")).toMatchObject([{ code: 4_000, wasClean: true }]);
    const closed = once(staying.socket, "close");
    await hub.close();
    expect(await closed).toMatchObject([{ code: 1001 }]);
  });

  /** Opens a WebSocket by hand, sends bytes, and returns the first bytes after the answer's head. */
  async function answerTo(bytes: Buffer): Promise<Buffer> {
    const socket = connect(hub.port, "127.0.0.1");
    const { pathname, search } = new URL(socketUrl());
    const head = `GET ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\n`;
    const upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    // Bytes that come in one piece with the head belong to the WebSocket too.
    socket.write(Buffer.concat([Buffer.from(head + upgrade + key), bytes]));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk]);
      const from = received.indexOf("\r\n\r\n") + 4;
      if (from > 3 && received.length > from) {
        // The example of RFC 6455 §1.3.
        expect(received.toString("latin1")).toContain("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        socket.destroy();
        return received.subarray(from);
      }
    }
    return expect.unreachable("it ended");
  }
  const masked = (first: number, payload: Buffer) => {
    const mask = Buffer.from([1, 2, 3, 4]);
    const hidden = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
    return Buffer.concat([Buffer.from([first, 0x80 | payload.length]), mask, hidden]);
  };

  it("answers a ping with its payload", async () => {
    const ping = masked(0x89, Buffer.from("still there?"));
    const pong = Buffer.concat([Buffer.from([0x8a, 12]), Buffer.from("still there?")]);
    expect(await answerTo(ping)).toEqual(pong);
  });

  it.each([
    ["a frame that is not masked", Buffer.from([0x81, 0x01, 0x61]), 1002],
    ["a frame of an unknown kind", masked(0x83, Buffer.from("a")), 1002],
    ["a reserved bit", masked(0xc1, Buffer.from("a")), 1002],
    ["a ping in parts", masked(0x09, Buffer.from("a")), 1002],
    ["a frame over 4 KB", Buffer.from([0x82, 0xfe, 0x10, 0x01]), 1009],
    ["a frame of 64 bits", Buffer.from([0x82, 0xff]), 1009],
  ])("closes after %s", async (_name, bytes, code) => {
    expect(await answerTo(bytes)).toEqual(Buffer.from([0x88, 2, code >> 8, code & 0xff]));
  });
});

describe("the hub's admission", () => {
  type Asked = { path?: string; method?: string; headers?: Record<string, string> };
  /** Sends a request and returns the status of its answer. A refused upgrade has a status too. */
  async function statusOf({ path = "", method = "GET", headers = {} }: Asked): Promise<number> {
    const asked = request({ host: "127.0.0.1", port: hub.port, path, method, headers }).end();
    const [response] = await once(asked, "response");
    response.destroy();
    return response.statusCode;
  }
  const path = () => new URL(urlOf("/overlay")).pathname + new URL(urlOf("/overlay")).search;

  it.each(["127.0.0.1", "localhost", "[::1]"])("admits requests to %s", async (name) => {
    const host = `${name}:${hub.port}`;
    expect(await statusOf({ path: path(), headers: { host } })).toBe(200);
    expect(await statusOf({ path: path(), headers: { host, origin: `http://${host}` } })).toBe(200);
  });

  it.each(["/overlay", "/events", "/socket"])("refuses at %s", async (place) => {
    const good = `${place}?token=${token}`;
    const upgrade = {
      ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    const more = place === "/socket" ? upgrade : {};
    const ask = (asked: Asked) => statusOf({ ...asked, headers: { ...more, ...asked.headers } });
    expect(await ask({ path: place })).toBe(401);
    expect(await ask({ path: `${place}?token=${token.slice(1)}` })).toBe(401);
    expect(await ask({ path: good, headers: { host: `evil.example:${hub.port}` } })).toBe(421);
    expect(await ask({ path: good, headers: { host: "127.0.0.1" } })).toBe(421);
    for (const origin of ["https://evil.example", "null", `https://127.0.0.1:${hub.port}`]) {
      expect(await ask({ path: good, headers: { origin } })).toBe(403);
    }
    expect(await ask({ path: good, method: "POST" })).toBe(405);
  });

  it("names only addresses at which it listens", async () => {
    const headers = { host: "evil.example" };
    const asked = request({ host: "127.0.0.1", port: hub.port, path: "/overlay", headers }).end();
    const [response] = await once(asked, "response");
    const { port } = hub;
    const sentence = `The hub answers at 127.0.0.1:${port} and localhost:${port} only.`;
    expect(await text(response)).toContain(sentence);
  });

  it("ignores the offer of another protocol", async () => {
    const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c" };
    expect(await statusOf({ path: path(), headers })).toBe(200);
    expect(await statusOf({ path: "/overlay", headers })).toBe(401);
  });

  it("refuses targets that are no URL, and serves on", async () => {
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    for (const path of ["//", "///?a", "http://["]) {
      expect(await statusOf({ path })).toBe(401);
      expect(await statusOf({ path, headers: upgrade })).toBe(401);
    }
  });

  it("serves on when the offer comes behind a pipelined request", async () => {
    const socket = connect(hub.port, "127.0.0.1").resume();
    const head = "GET /x HTTP/1.1\r\nHost: x\r\n";
    socket.write(`${head}\r\n${head}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`);
    await once(socket, "close");
    expect(await statusOf({ path: path() })).toBe(200);
  });

  it("closes although a client that offered another protocol keeps its side open", async () => {
    const socket = connect({ port: hub.port, host: "127.0.0.1", allowHalfOpen: true }).resume();
    socket.write("GET /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    await once(socket, "end");
    await hub.close();
    socket.destroy();
  });

  it("serves on when a client resets its refused WebSocket", async () => {
    const socket = connect(hub.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      "GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    socket.resetAndDestroy();
    expect(await statusOf({ path: path() })).toBe(200);
  });

  it("serves nothing else, and forbids caches, referrers and frames", async () => {
    expect(await statusOf({ path: `/?token=${token}` })).toBe(404);
    expect(await statusOf({ path: `/socket?token=${token}` })).toBe(404);
    const { headers } = await fetch(urlOf("/overlay"));
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });

  it("never shows the API key", async () => {
    await store(1);
    const page = await (await fetch(urlOf("/overlay"))).text();
    expect(page).not.toContain(KEY);
    expect(hub.overlayUrl).not.toContain(KEY);
  });
});

it("the hub reports how following ended, and still serves its kept records", async () => {
  await store(1);
  api.instead.push(refuse(401, "invalid_api_key"));
  // Answers the held poll, if there is one. The next poll is refused.
  api.store(createRecord(2));
  await expect(hub.ended).rejects.toMatchObject({ code: "invalid_api_key" });
  const stream = await openEvents({ after: "0" });
  expect(numbersOf(await stream.until(1))).toEqual([1]);
  stream.close();
});
