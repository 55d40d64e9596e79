import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { connect, type Socket } from "node:net";
import { DonationService } from "@activity/proto";
import { Health } from "@activity/proto/infrastructure";
import { Permission } from "@activity/server";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useTestStack } from "../harness/stack.ts";

const PATH = "/activity.ingest.v1.DonationService/CreateDonation";
const OPEN_PATH = "/activity.read.v1.AdmissionService/AdmitClient";
const UNAUTHENTICATED = "16";

const stack = useTestStack();
let baseUrl: string;
beforeAll(async () => {
  baseUrl = `http://127.0.0.1:${stack.corePort}`;
});

async function open(): Promise<Socket> {
  const socket = connect(stack.corePort, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** The head of a call that needs no credential. */
function openCall() {
  return { ":method": "POST", ":path": OPEN_PATH, "content-type": "application/proto" };
}

/** Sends the head of a call without its body. Returns the core's answer. */
async function answerToHead(contentType: string): Promise<http.IncomingMessage> {
  const headers = { "content-type": contentType, "content-length": "100000" };
  const request = http.request(baseUrl, { method: "POST", path: PATH, headers });
  request.flushHeaders();
  const [response] = await once(request, "response");
  request.on("error", () => {});
  request.destroy();
  return response;
}

describe("ADR 0037: a caller without a credential is refused before a byte of its body came", () => {
  it("in Connect over HTTP/1.1", async () => {
    expect((await answerToHead("application/proto")).statusCode).toBe(401);
  });

  it("in gRPC-Web over HTTP/1.1", async () => {
    const { statusCode, headers } = await answerToHead("application/grpc-web+proto");
    expect([statusCode, headers["content-type"]]).toEqual([200, "application/grpc-web+proto"]);
  });

  it("in gRPC over HTTP/2, and its stream is closed though the body goes on", async () => {
    const session = http2.connect(baseUrl);
    const call = { ":method": "POST", ":path": PATH, "content-type": "application/grpc+proto" };
    const stream = session.request(call);
    const sending = setInterval(() => stream.write(Buffer.alloc(10_000)), 50);
    stream.on("error", () => {});
    stream.resume();
    const [trailers] = await once(stream, "trailers");
    await once(stream, "close");
    clearInterval(sending);
    session.destroy();
    expect(trailers["grpc-status"]).toBe(UNAUTHENTICATED);
  });

  it("and is logged as any other call", async () => {
    const before = stack.log.length;
    await answerToHead("application/proto");
    const lines = () => stack.log.slice(before).join("\n");
    await expect.poll(lines).toMatch(new RegExp(`"call":"${PATH.slice(1)}".*"Unauthenticated"`));
  });

  it("as often as it likes on a connection, which serves its next call too", async () => {
    const session = http2.connect(baseUrl);
    const call = { ":method": "POST", ":path": PATH, "content-type": "application/grpc+proto" };
    for (let count = 0; count < 300; count++) {
      const stream = session.request(call);
      stream.on("error", () => {});
      stream.resume();
      stream.end(Buffer.alloc(130_000));
      const [trailers] = await once(stream, "trailers");
      expect(trailers["grpc-status"]).toBe(UNAUTHENTICATED);
      await once(stream, "close");
    }
    session.destroy();
  });
});

describe("ADR 0037: the connection of a gateway", () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  afterAll(() => agent.destroy());

  /** Makes a gateway's call for a client without an API key. Tells whether it reused an open connection. */
  async function admitWithoutKey(credential: string): Promise<boolean> {
    const request = http.request(baseUrl, {
      ...{ agent, method: "POST", path: "/activity.read.v1.AdmissionService/AdmitApiKey" },
      headers: {
        "content-type": "application/json",
        "x-client-address": "192.0.2.1",
        "x-service-credential": credential,
      },
    });
    request.end("{}");
    const [response] = await once(request, "response");
    response.resume();
    await once(response, "end");
    expect(response.statusCode).toBe(401);
    return request.reusedSocket;
  }

  it("is kept by its credential though its clients show no key, beside more that nobody knows than may be open", async () => {
    const credential = await stack.credential(Permission.ClientAddressForward);
    expect(await admitWithoutKey(credential)).toBe(false);
    const unknown = await Promise.all(Array.from({ length: 600 }, open));
    for (const socket of unknown) socket.on("error", () => {}).resume();
    // By then the core has closed connections that were idle for longer.
    await Promise.any(unknown.map((socket) => once(socket, "close")));
    expect(await admitWithoutKey(credential)).toBe(true);
    for (const socket of unknown) socket.destroy();
  });
});

describe("ADR 0037: what is read is bounded", () => {
  it("to a message of 1 MiB", async () => {
    const donation = { message: "x".repeat(1024 * 1024) };
    const refused = stack.client(DonationService).createDonation(donation);
    const { code } = ConnectError.from(await refused.catch((error) => error));
    expect(code).toBe(Code.ResourceExhausted);
  });

  it("to 4 KiB where nobody needs a credential", async () => {
    const health = createClient(Health, createConnectTransport({ baseUrl, httpVersion: "2" }));
    const refused = health.check({ service: "x".repeat(5_000) });
    const { code } = ConnectError.from(await refused.catch((error) => error));
    expect(code).toBe(Code.ResourceExhausted);
  });

  it("to 4 KiB where only the client is counted: refused though the body goes on", async () => {
    const session = http2.connect(baseUrl);
    const stream = session.request(openCall());
    stream.on("error", () => {});
    stream.write(Buffer.alloc(5_000));
    const [{ ":status": status }] = await once(stream, "response");
    session.destroy();
    expect(status).toBe(429);
  });

  it.each([
    ["no host", `POST ${PATH} HTTP/1.0\r\n\r\n`],
    ["a host that is none", `POST ${PATH} HTTP/1.1\r\nHost: a b\r\n\r\n`],
  ])("to heads that name a host: 400 for %s", async (_what, head) => {
    const socket = await open();
    socket.write(head);
    const [answer] = await once(socket, "data");
    expect(`${answer}`).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });

  it.concurrent.each([
    ["says nothing", ""],
    ["begins a word of HTTP/2", "PRI * HTT"],
    ["never ends its head", "POST / HTTP/1.1\r\nHost: x\r\n"],
  ])(
    "in time: a connection that %s is cut",
    async (_what, said) => {
      const socket = await open();
      socket.on("error", () => {});
      socket.resume();
      socket.write(said);
      await once(socket, "close");
    },
    30_000,
  );

  it.concurrent("in time: 80 calls over two HTTP/2 connections are cut though their bodies go on", async () => {
    const sessions = [http2.connect(baseUrl), http2.connect(baseUrl)];
    const streams = sessions.flatMap((session) =>
      Array.from({ length: 40 }, () => session.request(openCall())),
    );
    const sending = setInterval(() => {
      for (const stream of streams) if (stream.writable) stream.write(Buffer.alloc(1));
    }, 1_000);
    await Promise.all(
      streams.map((stream) => {
        stream.on("error", () => {}).resume();
        return once(stream, "close");
      }),
    );
    clearInterval(sending);
    const closed = sessions.map((session) => once(session, "close"));
    for (const session of sessions) session.destroy();
    await Promise.all(closed);
  }, 60_000);
});
