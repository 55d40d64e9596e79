import { once } from "node:events";
import type { Socket } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { createConnectionPool } from "../../workflows/src/http/connection-pool.ts";
import { postOnce } from "../../workflows/src/http/post-once.ts";
import { createSender } from "../../workflows/src/http/sender.ts";
import type { CheckedAddress } from "../../workflows/src/http/target-guard.ts";
import { type Behaviour, type Receiver, startReceiver } from "./harness-receiver.ts";
import { answer, flood, reset, write, writeAndReset } from "./harness-receiver-behaviours.ts";
import { BODY, createSenderHarness, HEADERS } from "./harness-receiver-sender.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const DELIVERED = { outcome: "delivered", status: 200 };

const harness = createSenderHarness();
afterAll(() => harness.stop());

/** Answers the first request of a connection normally, and the later ones with `later`. */
const afterFirst = (later: Behaviour): Behaviour => {
  const seen = new Set<Socket>();
  return (socket, request) => {
    if (seen.has(socket)) return later(socket, request);
    seen.add(socket);
    answer(200)(socket, request);
  };
};

describe("a connection is kept for the next attempts to the same host", () => {
  it("one after the other on one connection, side by side on several", async () => {
    const receiver = await harness.receive(answer(200));
    for (let round = 0; round < 3; round++) await harness.post(receiver);
    expect(receiver.connectionCount()).toBe(1);
    // All are answered at the same moment. Otherwise the first connections could go idle and close before the last
    // answer.
    const asked: (() => void)[] = [];
    receiver.behaviour = (socket, request) => {
      asked.push(() => answer(200)(socket, request));
      if (asked.length === 200) for (const go of asked) go();
    };
    await Promise.all(Array.from({ length: 200 }, () => harness.post(receiver)));
    expect(receiver.connectionCount()).toBe(200);
    await expect.poll(() => receiver.openCount()).toBe(128);
  });

  it("not under another name, and not once its address is gone from the name", async () => {
    const receiver = await harness.receive(answer(200));
    await harness.post(receiver);
    await harness.post(receiver, "a.receiver.test");
    expect(receiver.connectionCount()).toBe(2);

    const everywhere = await startReceiver(answer(200), harness.certificates.good, {
      host: "0.0.0.0",
    });
    const pool = createConnectionPool(harness.certificates.ca);
    const postTo = (...addresses: string[]) =>
      postOnce(
        { url: "https://receiver.test/", headers: HEADERS, body: BODY },
        {
          pool,
          deadline: new AbortController().signal,
          target: {
            kind: "safe",
            host: "receiver.test",
            port: everywhere.port,
            addresses: addresses.map((address): CheckedAddress => ({ address, family: 4 })),
          },
        },
      );
    await postTo("127.0.0.1");
    await postTo("127.0.0.2", "127.0.0.1");
    expect(everywhere.connectionCount()).toBe(1);
    await postTo("127.0.0.2");
    expect(everywhere.connectionCount()).toBe(2);
    pool.close();
    await everywhere.stop();
  });

  it.each([
    ["the receiver said so", answer(200, "connection: close\r\n")],
    ["the body was cut off", flood("HTTP/1.1 200 OK\r\n\r\n")],
    ["the body is broken", write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nz\r\n")],
    ["the body stalled", write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n")],
    [
      "the answer has no end but the connection's",
      (socket: Socket) => socket.end("HTTP/1.0 200 OK\r\n\r\n"),
    ],
    ["something came unasked", (socket: Socket) => socket.write(`${OK}HTTP/1.1 500 X\r\n\r\n`)],
  ] as const)("not if %s", async (_why, behaviour) => {
    const receiver = await harness.receive(behaviour);
    expect(await harness.post(receiver)).toMatchObject(DELIVERED);
    await expect.poll(() => receiver.openCount()).toBe(0);
    expect(await harness.post(receiver)).toMatchObject(DELIVERED);
    expect(receiver.connectionCount()).toBe(2);
  });

  it("an answer that came too early is not taken for that of the next request", async () => {
    const receiver = await harness.receive(async (socket) => {
      socket.write(OK);
      await new Promise((resolve) => setTimeout(resolve, 30));
      socket.write("HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n");
    });
    for (let round = 0; round < 3; round++) {
      expect(await harness.post(receiver)).toMatchObject(DELIVERED);
      const [socket] = receiver.sockets();
      if (socket) await once(socket, "close");
    }
    expect(receiver.requests).toHaveLength(3);
  });
});

describe("a kept connection that the receiver closes is no network_error", () => {
  it("closed while idle: the next attempt has a fresh one, and nothing is sent twice", async () => {
    const receiver = await harness.receive(answer(200));
    await harness.post(receiver);
    for (const socket of receiver.sockets()) socket.destroy();
    expect(await harness.post(receiver)).toMatchObject(DELIVERED);
    expect(receiver.requests).toHaveLength(2);
  });

  it.each([
    ["closed", (socket: Socket) => socket.end()],
    ["reset", (socket: Socket) => reset(socket)],
  ] as const)(
    "%s as the request came: the same attempt, timestamp and signature once more",
    async (_how, close) => {
      const receiver = await harness.receive(afterFirst(close));
      await harness.post(receiver);
      expect(await harness.post(receiver)).toMatchObject(DELIVERED);
      const [, second, third] = receiver.requests;
      expect(third).toEqual({ ...second, connection: 1 });
      expect(receiver.requests).toHaveLength(3);
    },
  );

  it("once more, not twice more", async () => {
    const receiver = await harness.receive(answer(200));
    await harness.post(receiver);
    receiver.behaviour = (socket) => reset(socket);
    expect(await harness.post(receiver)).toMatchObject({ outcome: "network_error" });
    expect(receiver.requests).toHaveLength(3);
  });

  it.each([
    ["a byte of an answer", writeAndReset("H")],
    ["an interim answer", writeAndReset("HTTP/1.1 103 E\r\n\r\n")],
  ] as const)("but lost after %s it is one, and nothing is sent again", async (_what, later) => {
    const receiver = await harness.receive(afterFirst(later));
    await harness.post(receiver);
    expect(await harness.post(receiver)).toMatchObject({ outcome: "network_error" });
    expect(receiver.requests).toHaveLength(2);
  });

  it("nor is anything sent again where the connection is lost after the status", async () => {
    const later = writeAndReset("HTTP/1.1 200 OK\r\ncontent-le");
    const receiver = await harness.receive(afterFirst(later));
    await harness.post(receiver);
    expect(await harness.post(receiver)).toMatchObject(DELIVERED);
    expect(receiver.requests).toHaveLength(2);
  });

  it("nor where no answer came in time", async () => {
    const hasty = createSenderHarness({ timeoutMs: 500 });
    const receiver = await hasty.receive(afterFirst(write("")));
    await hasty.post(receiver);
    expect(await hasty.post(receiver)).toMatchObject({ outcome: "timeout" });
    expect(receiver.requests).toHaveLength(2);
    await hasty.stop();
  });
});

describe("what goes over the wire", () => {
  it("is the request as it was given, and no header beside Host, Connection and the length", async () => {
    const receiver = await harness.receive(answer(200));
    await harness.post(receiver);
    expect(receiver.requests).toEqual([
      {
        requestLine: "POST /hook?x=1 HTTP/1.1",
        headers: [
          ["host", `receiver.test:${receiver.port}`],
          ["connection", "keep-alive"],
          ...Object.entries(HEADERS),
          ["content-length", String(BODY.length)],
        ],
        body: BODY,
        connection: 0,
      },
    ]);
  });

  it.each(["127.0.0.1", "::1"])(
    "goes to an address that the certificate names: %s",
    async (host) => {
      const receiver = await startReceiver(answer(200), harness.certificates.good, { host });
      const other = await startReceiver(answer(200), harness.certificates.otherName, { host });
      const sender = createSender({
        extraCa: harness.certificates.ca,
        allowedLoopback: new Set([`${host}:${receiver.port}`, `${host}:${other.port}`]),
      });
      const postTo = ({ port }: Receiver) => {
        const url = `https://${host === "::1" ? "[::1]" : host}:${port}/`;
        return sender.attempt({ url, headers: HEADERS, body: BODY });
      };
      expect(await postTo(receiver)).toMatchObject(DELIVERED);
      expect(await postTo(receiver)).toMatchObject(DELIVERED);
      expect(receiver.connectionCount()).toBe(1);
      expect((await postTo(other)).detail).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
      sender.close();
      await Promise.all([receiver.stop(), other.stop()]);
    },
  );

  it("goes to the next checked address when the first does not answer", async () => {
    const receiver = await startReceiver(answer(200), harness.certificates.good);
    const pool = createConnectionPool(harness.certificates.ca);
    const addresses: CheckedAddress[] = [
      { address: "127.0.0.9", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ];
    const result = await postOnce(
      { url: "https://receiver.test/", headers: HEADERS, body: BODY },
      {
        pool,
        deadline: new AbortController().signal,
        target: { kind: "safe", host: "receiver.test", port: receiver.port, addresses },
      },
    );
    expect(result).toMatchObject({ kind: "answered", status: 200 });
    pool.close();
    await receiver.stop();
  });

  it("is nothing after the sender was closed, and no connection is left", async () => {
    const short = createSenderHarness();
    const receiver = await short.receive(answer(200));
    await Promise.all(Array.from({ length: 10 }, () => short.post(receiver)));
    short.sender.close();
    await expect.poll(() => receiver.openCount()).toBe(0);
    await short.stop();
  });
});
