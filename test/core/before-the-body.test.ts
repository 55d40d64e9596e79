import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { connect, type Socket } from "node:net";
import { DonationService, ImportService } from "@activity/proto";
import { Health } from "@activity/proto/infrastructure";
import { Permission } from "@activity/server";
import { Code, createClient } from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { clientsOf } from "../harness/clients.ts";
import { useTestStack } from "../harness/stack.ts";

const PATH = "/activity.ingest.v1.DonationService/CreateDonation";
const OPEN_PATH = "/activity.read.v1.AdmissionService/AdmitClient";
const UNAUTHENTICATED = "16";

/** The head of a call that needs a credential. */
const CALL = { ":method": "POST", ":path": PATH, "content-type": "application/grpc+proto" };
/** The head of a call that needs no credential. */
const OPEN_CALL = { ":method": "POST", ":path": OPEN_PATH, "content-type": "application/proto" };

const stack = useTestStack();
let baseUrl: string;
beforeAll(() => {
  baseUrl = `http://127.0.0.1:${stack.corePort}`;
});

async function open(): Promise<Socket> {
  const socket = connect(stack.corePort, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** Checks that a call gets UNAUTHENTICATED and that its stream is closed. */
async function expectRefused(stream: http2.ClientHttp2Stream): Promise<void> {
  stream.on("error", () => {}).resume();
  const [trailers] = await once(stream, "trailers");
  expect(trailers["grpc-status"]).toBe(UNAUTHENTICATED);
  await once(stream, "close");
}

describe("ADR 0037: a caller without a credential is refused before it sends its body:", () => {
  it.each([
    ["Connect", 401, "application/proto", "application/json"],
    ["gRPC-Web", 200, "application/grpc-web+proto", "application/grpc-web+proto"],
  ])("in %s over HTTP/1.1, with status %i", async (_name, status, type, answered) => {
    const headers = { "content-type": type, "content-length": "100000" };
    const request = http.request(baseUrl, { method: "POST", path: PATH, headers });
    request.flushHeaders();
    const [response] = await once(request, "response");
    request.on("error", () => {}).destroy();
    expect([response.statusCode, response.headers["content-type"]]).toEqual([status, answered]);
  });

  it("in gRPC over HTTP/2, whose stream is closed while the body is sent", async () => {
    const session = http2.connect(baseUrl);
    const stream = session.request(CALL);
    const sending = setInterval(() => stream.write(Buffer.alloc(10_000)), 50);
    await expectRefused(stream);
    clearInterval(sending);
    session.destroy();
  });

  it("300 times on one connection, which serves each next call", async () => {
    const session = http2.connect(baseUrl);
    for (let count = 0; count < 300; count++) {
      await expectRefused(session.request(CALL).end(Buffer.alloc(130_000)));
    }
    session.destroy();
  });
});

describe("ADR 0037: the connection of a gateway", () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  afterAll(() => agent.destroy());

  /** Makes a gateway's call for a client without an API key. Returns whether it reused an open connection. */
  async function admitWithoutKey(credential: string): Promise<boolean> {
    const request = http.request(baseUrl, {
      ...{ agent, method: "POST", path: "/activity.read.v1.AdmissionService/AdmitApiKey" },
      headers: {
        ...{ "content-type": "application/json", "x-client-address": "192.0.2.1" },
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

  /** Opens 600 connections without a credential. Waits until the core has closed one of them. */
  async function openUnknown(): Promise<Socket[]> {
    const unknown = await Promise.all(Array.from({ length: 600 }, open));
    for (const socket of unknown) socket.on("error", () => {}).resume();
    await Promise.any(unknown.map((socket) => once(socket, "close")));
    return unknown;
  }

  it("stays open for its credential, without API keys, beside 600 unknown connections", async () => {
    const credential = await stack.credential(Permission.ClientAddressForward);
    expect(await admitWithoutKey(credential)).toBe(false);
    const unknown = await openUnknown();
    expect(await admitWithoutKey(credential)).toBe(true);
    agent.destroy();
    // The core also accepts a new caller, because it closes the connection that was idle longest.
    expect(await admitWithoutKey(credential)).toBe(false);
    for (const socket of unknown) socket.destroy();
  });

  it("stays open while its call waits for the database, beside 600 unknown connections", async () => {
    const credential = await stack.credential(Permission.ClientAddressForward);
    await admitWithoutKey(credential);
    agent.destroy();
    await stack.database.queryShards("LOCK TABLES rate_window WRITE");
    const admitting = admitWithoutKey(credential);
    await expect.poll(() => stack.database.isRunning("INSERT INTO rate_window")).toBe(true);
    const unknown = await openUnknown();
    await stack.database.queryShards("UNLOCK TABLES");
    expect(await admitting).toBe(false);
    for (const socket of unknown) socket.destroy();
  });
});

describe("ADR 0037: the core bounds", () => {
  const exhausted = { code: Code.ResourceExhausted };

  it("a message to 1 MiB, also of an import and when it is inflated", async () => {
    const donation = { message: "x".repeat(1024 * 1024) };
    const created = stack.client(DonationService).createDonation(donation);
    await expect(created).rejects.toMatchObject(exhausted);
    const credential = await stack.credential(Permission.DonationImport);
    async function* steps() {
      yield { step: { case: "rows" as const, value: { rows: [donation] } } };
    }
    const sessionManager = new Http2SessionManager(baseUrl);
    for (const options of [{}, { sendCompression: compressionGzip }]) {
      const importer = clientsOf(baseUrl, credential, { sessionManager, ...options })(
        ImportService,
      );
      const answers = importer.importDonations(steps())[Symbol.asyncIterator]();
      await expect(answers.next()).rejects.toMatchObject(exhausted);
    }
    sessionManager.abort();
  });

  it("a message to 4 KiB in a call that needs no credential", async () => {
    const health = createClient(Health, createConnectTransport({ baseUrl, httpVersion: "2" }));
    const checked = health.check({ service: "x".repeat(5_000) });
    await expect(checked).rejects.toMatchObject(exhausted);
  });

  it("an unfinished body to 4 KiB in a call that only counts its client", async () => {
    const session = http2.connect(baseUrl);
    const stream = session.request(OPEN_CALL);
    stream.on("error", () => {});
    stream.write(Buffer.alloc(5_000));
    const [{ ":status": status }] = await once(stream, "response");
    session.destroy();
    expect(status).toBe(429);
  });

  it.each([
    ["no host", `POST ${PATH} HTTP/1.0\r\n\r\n`],
    ["an invalid host", `POST ${PATH} HTTP/1.1\r\nHost: a b\r\n\r\n`],
  ])("heads to those with a valid host: 400 for %s", async (_name, head) => {
    const socket = await open();
    socket.write(head);
    const [answer] = await once(socket, "data");
    expect(`${answer}`).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });
});

it.each([
  "services%2Fcore",
  "10.0.0.1:50051,10.0.0.2:50051",
  "core.1:50051",
  "[fe80::1%25eth0]:50051",
])(
  "serves gRPC with the :authority %j, which a client derives from its target",
  async (authority) => {
    const session = http2.connect(baseUrl);
    const head = { ...CALL, ":path": "/grpc.health.v1.Health/Check", ":authority": authority };
    const stream = session.request(head).end(Buffer.alloc(5));
    const [headers] = await once(stream, "response");
    expect(headers[":status"]).toBe(200);
    const [trailers] = await once(stream.resume(), "trailers");
    expect(trailers["grpc-status"]).toBe("0");
    session.destroy();
  },
);

describe("ADR 0037: the core bounds the time of", () => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterAll(() => void vi.useRealTimers());

  /** Advances the core's clock until the core has closed `all`. Returns how many seconds passed. */
  async function secondsUntilClosed(all: readonly { readonly closed: boolean }[]) {
    let seconds = 0;
    const areClosed = () => {
      vi.advanceTimersByTime(1_000);
      seconds += 1;
      return all.every(({ closed }) => closed);
    };
    await expect.poll(areClosed).toBe(true);
    return seconds;
  }

  it.each([
    ["sends nothing", "", ""],
    ["begins the preface of HTTP/2", "PRI * HTT", ""],
    ["sends a head without end", "POST / HTTP/1.1\r\nHost: x\r\n", "x: y\r\n"],
  ])("a connection that %s", async (_name, sent, more) => {
    const socket = await open();
    socket.on("error", () => {}).resume();
    socket.write(sent);
    const sending = setInterval(() => socket.writable && socket.write(more), 50);
    expect(await secondsUntilClosed([socket])).toBeLessThanOrEqual(30);
    clearInterval(sending);
  });

  it("80 calls over two HTTP/2 connections with endless bodies", async () => {
    const sessions = [http2.connect(baseUrl), http2.connect(baseUrl)];
    const streams = sessions.flatMap((session) =>
      Array.from({ length: 40 }, () => session.request(OPEN_CALL)),
    );
    for (const stream of streams) stream.on("error", () => {}).resume();
    const sending = setInterval(() => {
      for (const stream of streams) if (stream.writable) stream.write(Buffer.alloc(1));
    }, 50);
    expect(await secondsUntilClosed(streams)).toBeLessThanOrEqual(60);
    clearInterval(sending);
    const closed = sessions.map((session) => once(session, "close"));
    for (const session of sessions) session.destroy();
    await Promise.all(closed);
  });
});
