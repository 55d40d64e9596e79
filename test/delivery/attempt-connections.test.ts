import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, isIPv6, type Socket } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { ReadyAttemptSchema } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { makeAttempt } from "../../workflows/src/attempt/make-attempt.ts";
import { isRetried } from "../../workflows/src/http/attempt-outcome.ts";
import { createConnectionPool } from "../../workflows/src/http/connection-pool.ts";
import { postOnce } from "../../workflows/src/http/post-once.ts";
import { useFolder } from "../harness/use-started.ts";
import type { Behaviour, Receiver } from "./harness-receiver.ts";
import { answer, reset, write, writeAndEnd, writeAndReset } from "./harness-receiver-behaviours.ts";
import {
  BODY,
  createSenderHarness,
  EVENT_ID,
  HEADERS,
  useOpenedSockets,
} from "./harness-receiver-sender.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const INTERIM = "HTTP/1.1 103 E\r\n\r\n";
const DELIVERED = { outcome: "delivered", status: 200 };
const NETWORK_ERROR = { outcome: "network_error" };

/** Its time limit is longer than the product's, because 200 handshakes may take long on a busy machine. */
const harness = createSenderHarness({ timeoutMs: 30_000 });
const folder = useFolder("connections");
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

/** Returns a function that posts to given addresses of one name, over one pool of connections. */
function createPinnedPost({ port }: Pick<Receiver, "port">) {
  const pool = createConnectionPool(harness.certificates.ca);
  const post = (...addresses: string[]) =>
    postOnce(
      { url: "https://receiver.test/", headers: HEADERS, body: BODY },
      {
        pool,
        deadline: new AbortController().signal,
        target: {
          kind: "safe",
          host: "receiver.test",
          port,
          addresses: addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
        },
      },
    );
  return { post, close: pool.close };
}

const HTTP = new URL("../../workflows/src/http/", import.meta.url);
/** A program that posts to a port of this machine and prints the result. */
const POST = `
  import { createConnectionPool } from "${HTTP}connection-pool.ts";
  import { postOnce } from "${HTTP}post-once.ts";
  const addresses = [{ address: "127.0.0.1", family: 4 }];
  const target = { kind: "safe", host: "receiver.test", port: Number(process.argv[1]), addresses };
  const request = { url: "https://receiver.test/", headers: {}, body: Buffer.from("{}") };
  const deadline = AbortSignal.timeout(30_000);
  console.log(await postOnce(request, { pool: createConnectionPool(), deadline, target }));
  process.exit();`;

/** A receiver that accepts nothing before `isFree`. Its queue takes two connections. The system drops other SYNs. */
const BUSY_AT_FIRST = `
  const { parentPort, workerData } = require("node:worker_threads");
  const receiver = require("node:tls").createServer(workerData, (socket) =>
    socket.on("error", () => {}).once("data", () => socket.end("HTTP/1.1 204 No Content\\r\\n\\r\\n")));
  receiver.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(receiver.address().port);
    Atomics.wait(workerData.isFree, 0, 0);
  });`;

describe("a connection is kept for the next attempts to the same host", () => {
  const { opened } = useOpenedSockets();

  it("on one connection in sequence, on several in parallel", async () => {
    const receiver = await harness.receive(answer(200));
    for (let round = 0; round < 3; round++) await harness.post(receiver);
    expect(receiver.connectionCount()).toBe(1);
    // The receiver answers all requests at the same moment. Otherwise the first connections could go idle and close
    // before the last answer.
    const asked: (() => void)[] = [];
    receiver.behaviour = (socket, request) => {
      asked.push(() => answer(200)(socket, request));
      if (asked.length === 200) for (const go of asked) go();
    };
    await Promise.all(Array.from({ length: 200 }, () => harness.post(receiver)));
    expect(receiver.connectionCount()).toBe(200);
    expect(opened.filter(({ destroyed }) => !destroyed).length).toBe(128);
    // Polls, because the receiver notices closed connections later, maybe only when the kept ones end.
    await expect.poll(() => receiver.openCount()).toBeLessThanOrEqual(128);
  });

  it("but not for another name of the host", async () => {
    const receiver = await harness.receive(answer(200));
    await harness.post(receiver);
    await harness.post(receiver, "a.receiver.test");
    expect(receiver.connectionCount()).toBe(2);
  });

  it("but not once the name has lost the address of the connection", async () => {
    const receiver = await harness.receive(answer(200), undefined, "::");
    const { post, close } = createPinnedPost(receiver);
    await post("127.0.0.1");
    await post("::1", "127.0.0.1");
    expect(receiver.connectionCount()).toBe(1);
    await post("::1");
    expect(receiver.connectionCount()).toBe(2);
    close();
  });

  it.each([
    ["the receiver said so", answer(200, "connection: close\r\n")],
    ["only its end ends the answer", writeAndEnd("HTTP/1.0 200 OK\r\n\r\n")],
    ["unexpected bytes came", write(`${OK}HTTP/1.1 500 X\r\n\r\n`)],
  ])("but not if %s", async (_why, behaviour) => {
    const receiver = await harness.receive(behaviour);
    expect(await harness.post(receiver)).toMatchObject(DELIVERED);
    await expect.poll(() => receiver.openCount()).toBe(0);
    expect(await harness.post(receiver)).toMatchObject(DELIVERED);
    expect(receiver.connectionCount()).toBe(2);
  });

  it("but an answer that came too early does not count for the next request", async () => {
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
  ] as const)("%s as the request comes: the same request is sent once more", async (_, close) => {
    const receiver = await harness.receive(afterFirst(close));
    await harness.post(receiver);
    expect(await harness.post(receiver)).toMatchObject(DELIVERED);
    const [, second, third] = receiver.requests;
    expect(third).toEqual({ ...second, connection: 1 });
    expect(receiver.requests).toHaveLength(3);
  });

  it("and the request is sent once more, not twice", async () => {
    const receiver = await harness.receive(answer(200));
    await harness.post(receiver);
    receiver.behaviour = (socket) => reset(socket);
    expect(await harness.post(receiver)).toMatchObject(NETWORK_ERROR);
    expect(receiver.requests).toHaveLength(3);
  });
});

describe.concurrent("nothing is sent again on a kept connection", () => {
  const hasty = createSenderHarness({ timeoutMs: 5_000 });
  afterAll(() => hasty.stop());

  it.each([
    ["that is lost after a byte of an answer", harness, writeAndReset("H"), NETWORK_ERROR],
    ["that is lost after an interim answer", harness, writeAndReset(INTERIM), NETWORK_ERROR],
    ["that is lost after the status", harness, writeAndReset("HTTP/1.1 200 OK\r\nc"), DELIVERED],
    ["on which no answer comes in time", hasty, write(""), { outcome: "timeout" }],
  ])("%s", async (_what, { receive, post }, later, expected) => {
    const receiver = await receive(afterFirst(later));
    expect(await post(receiver)).toMatchObject(DELIVERED);
    expect(await post(receiver)).toMatchObject(expected);
    expect(receiver.requests).toHaveLength(2);
  });

  it("that is lost after the receiver has worked for seconds", async () => {
    const receiver = await harness.receive(
      afterFirst((socket) => void setTimeout(reset, 2_500, socket)),
    );
    await harness.post(receiver);
    expect(await harness.post(receiver)).toMatchObject(NETWORK_ERROR);
    expect(receiver.requests).toHaveLength(2);
  });
});

describe("a connection", () => {
  const { tried } = useOpenedSockets();

  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["::1", "[::1]"],
  ])("goes to an address that the certificate names: %s", async (host, inUrl) => {
    const receiver = await harness.receive(answer(200), undefined, host);
    const other = await harness.receive(answer(200), harness.certificates.otherName, host);
    expect(await harness.post(receiver, inUrl)).toMatchObject(DELIVERED);
    expect(await harness.post(receiver, inUrl)).toMatchObject(DELIVERED);
    expect(receiver.connectionCount()).toBe(1);
    const { detail } = await harness.post(other, inUrl);
    expect(detail).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("is not opened to a receiver that only a CA of NODE_EXTRA_CA_CERTS signed", async () => {
    const receiver = await harness.receive(answer(200));
    const file = join(folder, "ca.pem");
    writeFileSync(file, harness.certificates.ca);
    // Posts in a new process, because Node reads the variable only at the start of a process.
    const { lines } = await runCommand(
      process.execPath,
      ["--input-type=module", "--eval", POST, `${receiver.port}`],
      { variables: { NODE_EXTRA_CA_CERTS: file } },
    );
    expect(lines.join("\n")).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    expect(receiver.requests).toEqual([]);
  });

  it("goes to the next checked address when the first refuses", async () => {
    const { post, close } = createPinnedPost(await harness.receive(answer(200)));
    expect(await post("127.0.0.9", "127.0.0.1")).toMatchObject({ kind: "answered", status: 200 });
    close();
  });

  it("waits for a receiver with two addresses until a lost SYN was repeated", async () => {
    const { cert, key } = harness.certificates.good;
    const isFree = new Int32Array(new SharedArrayBuffer(4));
    const busy = new Worker(BUSY_AT_FIRST, { eval: true, workerData: { cert, key, isFree } });
    const [port] = (await once(busy, "message")) as [number];
    const waiting = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    await Promise.all(waiting.map((socket) => once(socket, "connect")));
    const { post, close } = createPinnedPost({ port });
    const beganMs = performance.now();
    const posted = post("127.0.0.1", "2001:db8::1");
    await expect.poll(() => tried).toHaveLength(waiting.length + 1);
    Atomics.store(isFree, 0, 1);
    Atomics.notify(isFree, 0);
    expect(await posted).toMatchObject({ kind: "answered", status: 204 });
    // The system repeats a SYN after a second.
    expect(performance.now() - beganMs).toBeGreaterThan(900);
    close();
    for (const socket of waiting) socket.destroy();
    await busy.terminate();
  });

  it.each([10, -10])(
    "that opens after the clock moved by %i minutes carries no request, and the attempt is retried",
    async (minutes) => {
      const receiver = await harness.receive(answer(200));
      const ready = create(ReadyAttemptSchema, {
        url: `https://receiver.test:${receiver.port}/`,
        secret: `whsec_${Buffer.alloc(32).toString("base64")}`,
        eventId: EVENT_ID,
        payload: BODY,
      });
      let movedMs = 0;
      const made = makeAttempt(harness.sender, ready, 1, () => Date.now() + movedMs);
      movedMs = minutes * 60_000;
      const { outcome } = await made;
      expect(isRetried(outcome)).toBe(true);
      expect(receiver.connectionCount()).toBe(1);
      expect(receiver.requests).toEqual([]);
    },
  );

  it("leaves no connection behind once the sender is closed", async () => {
    const short = createSenderHarness();
    const receiver = await short.receive(answer(200));
    await Promise.all(Array.from({ length: 10 }, () => short.post(receiver)));
    short.sender.close();
    await expect.poll(() => receiver.openCount()).toBe(0);
    await short.stop();
  });
});
