import { connect, type Socket } from "node:net";
import { promisify } from "node:util";
import { type Metrics, NO_METRICS } from "@activity/runtime/metrics";
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { QUIET } from "../../test/harness/quiet.ts";
import { createGateway, type Gateway } from "./app.ts";
import type { GatewayLimits } from "./limits.ts";
import { parseAnswer, sendRaw } from "./testing/raw-connection.ts";
import { resetAtOnce } from "./testing/reset-at-once.ts";
import {
  clientRefusal,
  coreError,
  createRouterCore,
  pageWith,
  type RouterCore,
} from "./testing/router-core.ts";

const KEY = `act_live_${"0123456789abcdef".repeat(4)}`;
const HOST = "Host: x\r\n";
const AUTHORIZED = `${HOST}Authorization: Bearer ${KEY}\r\n`;
const CLOSE = "Connection: close\r\n\r\n";

let core: RouterCore;
let gateway: Gateway;
let port: number;
let counted: (string | undefined)[];
const metrics: Metrics = {
  ...NO_METRICS,
  histogram: () => (_seconds, _route, code) => void counted.push(code),
};
async function start(limits: Partial<GatewayLimits> = {}, trustedProxies: readonly string[] = []) {
  counted = [];
  gateway = createGateway({
    upstream: core.transport,
    log: QUIET,
    limits,
    metrics,
    trustedProxies,
  });
  ({ port } = await gateway.listen(0, "127.0.0.1"));
}
async function restart(...changes: Parameters<typeof start>): Promise<void> {
  await gateway.close();
  await start(...changes);
}
beforeEach(async () => {
  core = createRouterCore();
  await start();
});
afterEach(() => gateway.close());

const send = async (line: string, headers = AUTHORIZED) =>
  parseAnswer(await sendRaw(port, `${line} HTTP/1.1\r\n${headers}${CLOSE}`));
/** Returns the status for a client behind a trusted proxy. */
const from = async (address: string) =>
  (await send("GET /api/v1/me", `${AUTHORIZED}X-Forwarded-For: ${address}\r\n`)).status;
const codeOf = (rest: string) => JSON.parse(rest).error.code;
const calls = () => core.calls.map(({ method }) => method);

describe("a request makes exactly one upstream call", () => {
  it.each([
    ["GET /api/v1/activity?limit=5", AUTHORIZED, 200, "ListActivities"],
    ["HEAD /api/v1/activity", AUTHORIZED, 200, "ListActivities"],
    ["GET /api/v1/me", AUTHORIZED, 200, "GetMe"],
    ["GET /api/v1/me?", AUTHORIZED, 200, "GetMe"],
    ["GET /api/v1/me", `${"a:b\r\n".repeat(2_000)}${AUTHORIZED}`, 200, "GetMe"],
    ["GET http://other/api/v1/me", AUTHORIZED, 200, "GetMe"],
    ["OPTIONS /api/v1/me", AUTHORIZED, 204, "GetMe"],
    ["OPTIONS /api/v1/me?x=1", AUTHORIZED, 400, "AdmitApiKey"],
    ["GET /api/v1/activity?limit=0", AUTHORIZED, 400, "AdmitApiKey"],
    ["GET /api/v1/me?limit=1", AUTHORIZED, 400, "AdmitApiKey"],
    ["GET /api/v1/me", HOST, 401, "AdmitClient"],
    ["GET /api/v1/me?x=1", HOST, 401, "AdmitClient"],
    ["GET /api/v1/me", `${AUTHORIZED}Authorization: Bearer ${KEY}\r\n`, 401, "AdmitClient"],
    ["OPTIONS /api/v1/me", HOST, 401, "AdmitClient"],
    ["POST /api/v1/me", HOST, 405, "AdmitClient"],
    ["PURGE /api/v1/me", AUTHORIZED, 405, "AdmitClient"],
    ["OPTIONS *", AUTHORIZED, 404, "AdmitClient"],
    ["GET /api/v1/%6De", AUTHORIZED, 404, "AdmitClient"],
    ["GET //api/v1/me", AUTHORIZED, 404, "AdmitClient"],
    ["POST /api/v1/me/", HOST, 404, "AdmitClient"],
  ])("%s", async (line, headers, status, call) => {
    const answer = await send(line, headers);
    expect([answer.status, calls()]).toEqual([status, [call]]);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_[\w-]{22}$/);
    expect(answer.headers.get("ratelimit") !== undefined).toBe(call !== "AdmitClient");
    expect(answer.headers.has("x-inner")).toBe(false);
  });

  it("with the key, the address and the request id, and no other header of the client", async () => {
    const answer = await send("GET /api/v1/me", `${AUTHORIZED}X-Client-Address: 6.6.6.6\r\n`);
    const headers = core.calls[0]?.headers;
    expect(headers?.get("authorization")).toBe(`Bearer ${KEY}`);
    expect(headers?.get("x-client-address")).toBe("127.0.0.1");
    expect(headers?.get("x-request-id")).toBe(answer.headers.get("x-request-id"));
    await send("GET /api/v1/me", `${HOST}Authorization: Bearer act_svc_x\r\n`);
    expect(core.calls[1]?.headers.has("authorization")).toBe(false);
  });
});

describe("the core's refusal", () => {
  it("of an address comes before 404, 405, 401 and 400, and asks the core again if it names no time", async () => {
    core.before = () => {
      throw coreError(Code.ResourceExhausted, "rate_limit_exceeded");
    };
    for (const line of ["GET /x", "POST /api/v1/me", "GET /api/v1/me", "GET /api/v1/me?x=1"]) {
      const answer = await send(line);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "60"]);
    }
    expect(calls()).toHaveLength(4);
  });

  it("of an address for some time is repeated for that time without a call. ADR 0030", async () => {
    const refuseOnce = async (forMs: number) => {
      await restart({ refusalDelayMs: 0 });
      core.before = () => {
        throw clientRefusal(forMs);
      };
      expect((await send("GET /api/v1/me")).status).toBe(429);
      core.before = () => undefined;
    };
    await refuseOnce(60_000);
    for (const line of ["GET /x", "POST /api/v1/me", "GET /api/v1/me", "GET /api/v1/me?x=1"]) {
      const answer = await send(line);
      expect([answer.status, codeOf(answer.rest)]).toEqual([429, "rate_limit_exceeded"]);
      expect(answer.headers.get("retry-after")).toBe("60");
    }
    expect(calls()).toEqual(["GetMe"]);
    await refuseOnce(1_000);
    await expect.poll(async () => (await send("GET /api/v1/me")).status).toBe(200);
  });

  it("of an address is delayed when repeated, and delays no other address. ADR 0030", async () => {
    await restart({ refusalDelayMs: 60_000, closeTimeoutMs: 0 }, ["127.0.0.1/32"]);
    core.before = ({ headers }) => {
      if (headers.get("x-client-address") === "192.0.2.1") throw clientRefusal(60_000);
    };
    expect(await from("192.0.2.1")).toBe(429);
    const waiting = from("192.0.2.1");
    expect(await from("192.0.2.2")).toBe(200);
    expect([counted, core.calls.length]).toEqual([["429", "200"], 2]);
    await gateway.close();
    // The connection was cut without an answer.
    expect(await waiting).toBeNaN();
  });

  it("of an address covers its IPv6 /64 and no other address", async () => {
    await restart({}, ["127.0.0.1/32"]);
    core.before = ({ headers }) => {
      if (headers.get("x-client-address")?.startsWith("2001:db8::")) throw clientRefusal(60_000);
    };
    expect(await from("2001:db8::1")).toBe(429);
    expect(await from("2001:db8::2")).toBe(429);
    expect(core.calls).toHaveLength(1);
    expect(await from("2001:db8:0:1::1")).toBe(200);
    expect(await from("192.0.2.1")).toBe(200);
  });

  it("of an address behind a proxy covers its requests with an unknown method, and no other's", async () => {
    await restart({}, ["127.0.0.1/32"]);
    core.before = ({ headers }) => {
      if (headers.get("x-client-address") === "192.0.2.1") throw clientRefusal(60_000);
    };
    const unknown = async (client: string) =>
      (await send("FOO /api/v1/me", `${HOST}X-Forwarded-For: ${client}\r\n`)).status;
    expect([await unknown("192.0.2.1"), await unknown("192.0.2.2")]).toEqual([429, 405]);
  });

  it("that comes too late is 503", async () => {
    await restart({ upstreamTimeoutMs: 300 });
    core.before = () => new Promise(() => undefined);
    const answer = await send("GET /api/v1/me");
    expect([answer.status, codeOf(answer.rest)]).toEqual([503, "temporarily_unavailable"]);
    expect(counted).toEqual(["503"]);
  });

  it("is not waited for when the client has gone", async () => {
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    core.before = ({ signal }) => {
      signal.addEventListener("abort", () => resolve());
      gateway.server.closeAllConnections();
      return aborted;
    };
    const lost = sendRaw(port, `GET /api/v1/me HTTP/1.1\r\n${AUTHORIZED}\r\n`).catch(() => "");
    await aborted;
    expect(await lost).toBe("");
    // A client that hangs up is no outage, so an alert on 5xx must not count it.
    await expect.poll(() => counted).toEqual(["499"]);
  });
});

it("a head has 10 seconds, a request 15, a stalled answer 20 and an idle connection 65. ADR 0009", () => {
  const arriving = { headersTimeout: 10_000, requestTimeout: 15_000 };
  expect(gateway.server).toMatchObject({ ...arriving, timeout: 20_000, keepAliveTimeout: 65_000 });
});

it("a gateway that drains still serves, and closes each connection after its answer. ADR 0043", async () => {
  gateway.drain();
  for (const _ of [1, 2]) {
    const text = await sendRaw(port, `GET /api/v1/me HTTP/1.1\r\n${AUTHORIZED}\r\n`);
    const { status, headers } = parseAnswer(text);
    expect([status, headers.get("connection")]).toEqual([200, "close"]);
  }
});

describe("a client that reads nothing", () => {
  const CONNECT = "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n";
  /** Asks for more than the kernel buffers for one connection, and sends `next` in the same packet. */
  async function askAndReadNothing(next: string): Promise<Socket> {
    core.page = pageWith("x".repeat(32 * 1024 * 1024));
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    socket.write(`GET /api/v1/activity HTTP/1.1\r\n${AUTHORIZED}\r\n${next}`);
    await expect.poll(() => counted).toEqual(["200"]);
    return socket;
  }

  it.each([
    ["a GET", ""],
    ["a GET and a CONNECT", CONNECT],
  ])("is cut after %s, because its answer stays in memory", async (_, next) => {
    await restart({ stalledTimeoutMs: 300 });
    const socket = await askAndReadNothing(next);
    const open = () => promisify(gateway.server.getConnections.bind(gateway.server))();
    await expect.poll(open).toBe(0);
    socket.destroy();
  });

  it("is cut when the gateway closes, even after CONNECT", async () => {
    await restart({ stalledTimeoutMs: 60_000, closeTimeoutMs: 100 });
    const socket = await askAndReadNothing(CONNECT);
    await gateway.close();
    socket.destroy();
  });
});

it("a closing gateway sends the rest of an answer that its client reads slowly. ADR 0043", async () => {
  core.page = pageWith("x".repeat(20_000_000));
  const socket = connect(port, "127.0.0.1").pause();
  socket.write(`GET /api/v1/activity HTTP/1.1\r\n${AUTHORIZED}\r\n`);
  await expect.poll(() => counted).toEqual(["200"]);
  const closed = gateway.close();
  let bytes = 0;
  for await (const chunk of socket) bytes += chunk.length;
  expect(bytes).toBeGreaterThan(20_000_000);
  await closed;
});

it("a closing gateway finishes the answers in flight with Connection: close, and accepts no more", async () => {
  const { promise: called, resolve: noteCall } = Promise.withResolvers<void>();
  const { promise: ended, resolve: endCall } = Promise.withResolvers<void>();
  core.before = () => {
    noteCall();
    return ended;
  };
  const answered = sendRaw(port, `GET /api/v1/me HTTP/1.1\r\n${AUTHORIZED}\r\n`);
  await called;
  const closed = gateway.close();
  endCall();
  const answer = parseAnswer(await answered);
  expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
  await closed;
  await expect(sendRaw(port, "GET / HTTP/1.1\r\n\r\n")).rejects.toThrow("ECONNREFUSED");
});

it("reads nothing from a client that left before its connection was accepted. ADR 0030", async () => {
  resetAtOnce(port, `GET /api/v1/me HTTP/1.1\r\n${AUTHORIZED}${CLOSE}`);
  // Connections are accepted in order, so the gateway has accepted the reset connection before this one.
  expect((await send("GET /api/v1/me")).status).toBe(200);
  expect([calls(), counted]).toEqual([["GetMe"], ["200"]]);
});
