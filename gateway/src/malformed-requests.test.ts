import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { QUIET } from "../../test/harness/quiet.ts";
import { createGateway, type Gateway } from "./app.ts";
import { parseAnswer, sendRaw } from "./testing/raw-connection.ts";
import { coreError, createRouterCore, type RouterCore } from "./testing/router-core.ts";

const KEY = `act_live_${"0123456789abcdef".repeat(4)}`;
const GOOD = `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n`;

let core: RouterCore;
let gateway: Gateway;
let port: number;
/** Starts a gateway with this timeout, which only a request that does not end can reach. */
async function start(timeoutMs: number): Promise<void> {
  gateway = createGateway({
    upstream: core.transport,
    log: QUIET,
    limits: {
      headersTimeoutMs: timeoutMs,
      requestTimeoutMs: timeoutMs,
      timeoutCheckMs: 50,
      bodyBytes: 100_000,
    },
  });
  ({ port } = await gateway.listen(0, "127.0.0.1"));
}
async function restart(timeoutMs: number): Promise<void> {
  await gateway.close();
  await start(timeoutMs);
}
beforeEach(async () => {
  core = createRouterCore();
  await start(5_000);
});
afterEach(() => gateway.close());

/** Error codes by status. Every other status has the code `invalid_request`. */
const CODES: Partial<Record<number, string>> = { 404: "not_found", 405: "method_not_allowed" };
const CODINGS = [
  ...["xchunked", "chunked, identity", "gzip, chunked", "chunked, chunked", "identity", ""],
  ...["chunked;q=1", '"chunked"'],
  ...["chunked\r\nTransfer-Encoding: chunked", "chunked\r\nTransfer-Encoding: x"],
];
const codedAs = (coding: string) =>
  `${GOOD}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n${GOOD}\r\n`;
const calls = () => core.calls.map(({ method }) => method);

describe("a request that is not well-formed is counted and answered as JSON", () => {
  it.each([
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["a bad version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400],
    ["a bad header", "GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", 400],
    ["a raw byte beyond ASCII in the query", `${GOOD.replace("/me", "/me?type=\u00e9")}\r\n`, 400],
    ["no Host", "GET /api/v1/me HTTP/1.1\r\n\r\n", 400],
    ["two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400],
    ["too large a head", `${GOOD}X: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["too long a target", `GET /${"x".repeat(20_000)} HTTP/1.1\r\n\r\n`, 431],
    ["an unknown method", "FOO /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n", 405],
    [
      "an unknown method after an empty line",
      "\r\nFOO /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n",
      405,
    ],
    ["an unknown method and path", "FOO / HTTP/1.1\r\nHost: x\r\n\r\n", 404],
    ["a method of RTSP", "PLAY /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n", 405],
    ["the method of HTTP/2", "PRI /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n", 405],
    ["another protocol", "GET /api/v1/me XTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["HTTP/2.0", `${GOOD.replace("1.1", "2.0")}\r\n`, 400],
    ["HTTP/0.9", `${GOOD.replace("1.1", "0.9")}\r\n`, 400],
    ["an invalid Host", `${GOOD.replace("Host: x", "Host: a b/c")}\r\n`, 400],
    ["CONNECT", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", 404],
    [
      "length and chunks at once",
      `${GOOD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
    ],
    ...CODINGS.map((coding) => [`the transfer coding ${coding}`, codedAs(coding), 400] as const),
    [
      "a transfer coding in HTTP/1.0",
      `${GOOD.replace("1.1", "1.0")}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
  ] as const)("%s", (_name, bytes, status) => expectRefused(bytes, status));

  it("a head that never ends", async () => {
    await restart(1_000);
    await expectRefused(GOOD, 408);
  });

  it("a head that is complete after its 408 was begun, once", async () => {
    await restart(1_000);
    const admitted = Promise.withResolvers<void>();
    core.before = () => admitted.promise;
    const socket = connect(port, "127.0.0.1");
    const answered = readText(socket);
    socket.write(GOOD);
    await expect.poll(calls).toEqual(["AdmitClient"]);
    socket.write("\r\n");
    await new Promise((resolve) => setTimeout(resolve, 50));
    admitted.resolve();
    expect((await answered).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 408"]);
    expect(calls()).toEqual(["AdmitClient"]);
  });

  async function expectRefused(bytes: string, status: number): Promise<void> {
    const answer = parseAnswer(await sendRaw(port, bytes));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.rest).error).toEqual({
      code: CODES[status] ?? "invalid_request",
      message: expect.any(String),
      request_id: answer.headers.get("x-request-id"),
    });
    expect(answer.headers.get("content-length")).toBe(`${Buffer.byteLength(answer.rest)}`);
    expect(answer.headers.get("cache-control")).toBe("private, no-store");
    expect(answer.headers.get("connection")).toBe("close");
    expect(answer.headers.get("date")).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    expect(calls()).toEqual(["AdmitClient"]);
  }

  it("once, even if the rest arrives in many pieces", async () => {
    const socket = connect(port, "127.0.0.1");
    const answered = readText(socket);
    let isAsked = false;
    const admitted = Promise.withResolvers<void>();
    core.before = async () => {
      isAsked = true;
      await admitted.promise;
    };
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n");
    await expect.poll(() => isAsked).toBe(true);
    for (let piece = 0; piece < 10; piece++) {
      socket.write(`X-${piece}: y\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    admitted.resolve();
    expect(parseAnswer(await answered).status).toBe(400);
    expect(calls()).toEqual(["AdmitClient"]);
  });

  it("unless its client is over the limit: then it gets 429", async () => {
    core.before = () => {
      throw coreError(Code.ResourceExhausted, "rate_limit_exceeded");
    };
    expect(parseAnswer(await sendRaw(port, "hello\r\n\r\n")).status).toBe(429);
    const connect = "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n";
    expect(parseAnswer(await sendRaw(port, connect)).status).toBe(429);
  });
});

describe("what HTTP allows is answered as usual", () => {
  it.each([
    ["HTTP/1.0 without Host", GOOD.replace("1.1", "1.0").replace("Host: x\r\n", "")],
    ["an upgrade", `${GOOD}Connection: upgrade, close\r\nUpgrade: websocket\r\n`],
    ["a body", `${GOOD}Connection: close\r\nContent-Length: 5\r\n`, "hello"],
    [
      "a body in chunks",
      `${GOOD}Connection: close\r\nTransfer-Encoding: Chunked\r\n`,
      "5\r\nhello\r\n0\r\n\r\n",
    ],
    ["an expectation", `${GOOD}Expect: 100-continue\r\nContent-Length: 5\r\n`],
    ["another expectation", `${GOOD}Expect: miracles\r\n`],
  ])("%s", async (_name, head, body = "") => {
    const text = await sendRaw(port, `${head}\r\n${body}`);
    expect(parseAnswer(text).status).toBe(200);
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(calls()).toEqual(["GetMe"]);
  });

  it("pipelined requests are answered in order, a malformed one after them last", async () => {
    const text = await sendRaw(port, `${GOOD}\r\n${GOOD.replace("/me", "/x")}\r\nhello\r\n\r\n`);
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      "200",
      "404",
      "400",
    ]);
  });

  it("an upgrade without close ends the connection, because what follows may be lost", async () => {
    const upgrade = `${GOOD}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`;
    const text = await sendRaw(port, `${upgrade}${GOOD}\r\n`);
    expect(parseAnswer(text).headers.get("connection")).toBe("close");
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it("a pipelined request with an unknown method is answered as if it came alone", async () => {
    const text = await sendRaw(port, `${GOOD}\r\nFOO /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 405 /s);
  });

  it("a connection that sends nothing is closed, and counts as no request", async () => {
    await restart(1_000);
    expect(await sendRaw(port, "")).toBe("");
    expect(calls()).toEqual([]);
  });

  it("a body that does not end is cut, after one answer", async () => {
    await restart(1_000);
    const head = `${GOOD}Content-Length: 10000000\r\n\r\n`;
    expect(await sendRaw(port, `${head}x`)).toMatch(/^HTTP\/1\.1 200(?!.*HTTP\/1)/s);
    // Now the size limit cuts the request, not the timeout.
    await restart(60_000);
    // The connection is reset if the gateway has not read all bytes. The client may then lose the answer.
    const large = sendRaw(port, head + "x".repeat(300_000)).catch(String);
    expect(await large).toMatch(/^HTTP\/1\.1 200(?!.*HTTP\/1)|ECONNRESET|EPIPE/s);
  });
});
