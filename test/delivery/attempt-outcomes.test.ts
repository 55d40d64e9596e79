import { createServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { listenLocally } from "../harness/listening.ts";
import { answer, trickle, write, writeAndReset } from "./harness-receiver-behaviours.ts";
import { makeCertificates } from "./harness-receiver-certificates.ts";
import { createSenderHarness } from "./harness-receiver-sender.ts";

const OK_HEAD = "HTTP/1.1 200 OK\r\n";
/** The time limit of an attempt by `hasty`: longer than a busy machine needs for a handshake. */
const SHORT_MS = 6_000;
/** An attempt may end this much later on a busy machine. Unlimited, it would take most of a minute or never end. */
const LATE_MS = 5_000;

const patient = createSenderHarness();
const hasty = createSenderHarness({ timeoutMs: SHORT_MS });
afterAll(() => Promise.all([patient.stop(), hasty.stop()]));

describe("§6.4 the outcome of an answer goes by its status", () => {
  it.each([301, 302, 304, 307, 308])("a %i is not followed", async (status) => {
    const other = await patient.receive(answer(200));
    const location = `location: https://receiver.test:${other.port}/\r\n`;
    const receiver = await patient.receive(answer(status, location));
    expect(await patient.post(receiver)).toMatchObject({ outcome: "redirected" });
    expect(other.connectionCount()).toBe(0);
  });

  const INTERIM = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
  const FINAL = `${OK_HEAD}content-length: 5\r\n\r\nHTTP/`;

  it("1xx before the answer is not the answer, even if bytes come one by one", async () => {
    const receiver = await patient.receive(async (socket) => {
      for (const part of `${INTERIM}${FINAL}`) {
        socket.write(part);
        await setImmediate();
      }
    });
    for (let round = 0; round < 2; round++) {
      const report = await patient.post(receiver);
      expect(report).toMatchObject({ outcome: "delivered", status: 200 });
      expect(report.headers).toBe("content-length: 5\n");
      expect(report.bodyStart?.toString()).toBe("HTTP/");
    }
    expect(receiver.connectionCount()).toBe(1);
  });

  it.each([
    ["with an upgrade nobody asked for", "upgrade: x\r\nconnection: upgrade\r\n"],
    ["with a body", "content-length: 2\r\n\r\nok"],
  ])("101 %s is rejected, and its connection cut", async (_what, rest) => {
    const receiver = await patient.receive(write(`HTTP/1.1 101 S\r\n${rest}\r\n`));
    const report = await patient.post(receiver);
    expect(report).toMatchObject({ outcome: "rejected", status: 101 });
    await expect.poll(() => receiver.openCount()).toBe(0);
  });
});

describe("§6.4 an answer whose status does not come is a network_error", () => {
  const NETWORK_ERROR = { outcome: "network_error", status: undefined };

  it("if the connection is refused", async () => {
    const receiver = await patient.receive(answer(200));
    await receiver.stop();
    const detail = "the connection was refused (ECONNREFUSED)";
    expect(await patient.post(receiver)).toMatchObject({ ...NETWORK_ERROR, detail });
  });

  it.each([
    ["reset before a byte", writeAndReset("")],
    ["reset in the status", writeAndReset("HTTP/1.1 20")],
    ["reset after an interim answer", writeAndReset("HTTP/1.1 100 C\r\n\r\n")],
  ])("%s", async (_what, behaviour) => {
    const receiver = await patient.receive(behaviour);
    expect(await patient.post(receiver)).toMatchObject(NETWORK_ERROR);
    expect(receiver.requests).toHaveLength(1);
  });

  it("garbage instead of HTTP, and its owner is told so", async () => {
    const receiver = await patient.receive(write("SSH-2.0-OpenSSH_9.9\r\n\r\n"));
    const detail = "the answer is not HTTP";
    expect(await patient.post(receiver)).toMatchObject({ ...NETWORK_ERROR, detail });
    expect(receiver.requests).toHaveLength(1);
  });

  const { selfSigned, expired, otherName } = patient.certificates;
  it.each([
    ["self-signed", selfSigned, "the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)"],
    ["expired", expired, "the certificate has expired (CERT_HAS_EXPIRED)"],
    [
      "for another name",
      otherName,
      "the certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)",
    ],
    [
      "by a CA that nobody trusts",
      makeCertificates().good,
      "the certificate's chain is incomplete, or its issuer is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
    ],
  ])("a certificate that is %s, and no request is sent", async (_what, certificate, detail) => {
    const receiver = await patient.receive(answer(200), certificate);
    expect(await patient.post(receiver)).toMatchObject({ ...NETWORK_ERROR, detail });
    expect(receiver.connectionCount()).toBe(1);
    expect(receiver.requests).toHaveLength(0);
  });

  it("plain HTTP where TLS should be", async () => {
    const plain = createServer((socket) => socket.end(`${OK_HEAD}content-length: 0\r\n\r\n`));
    const port = await listenLocally(plain);
    const own = createSenderHarness({ allowedLoopback: new Set([`127.0.0.1:${port}`]) });
    expect(await own.post({ port }, "127.0.0.1")).toMatchObject(NETWORK_ERROR);
    await own.stop();
    plain.close();
  });
});

describe.concurrent("§6.4 a whole attempt has 10 seconds", () => {
  const TOO_LATE = "no answer in time";

  it.each([
    ["no answer at all", write(""), undefined, TOO_LATE],
    ["a slow status", trickle("HTTP/1.1 ", 2_500, "2"), undefined, TOO_LATE],
    ["a handshake that hangs", write(""), null, "no connection in time"],
  ])("%s is a timeout", async (_what, behaviour, certificate, detail) => {
    const receiver = await hasty.receive(behaviour, certificate);
    const report = await hasty.post(receiver);
    expect(report).toMatchObject({ outcome: "timeout", status: undefined, detail });
    expect(report.durationMs).toBeGreaterThanOrEqual(SHORT_MS - 5);
    expect(report.durationMs).toBeLessThan(SHORT_MS + LATE_MS);
  });

  it("a name look-up that hangs is a timeout", async () => {
    const resolve = () => new Promise<never>(() => undefined);
    const { post, stop } = createSenderHarness({ timeoutMs: SHORT_MS, resolve });
    expect(await post({ port: 443 })).toMatchObject({ outcome: "timeout" });
    await stop();
  });

  it("interim answers, one a second, are cut off after 10 seconds on the clock", async () => {
    const receiver = await patient.receive(trickle("", 1_000, "HTTP/1.1 102 P\r\n\r\n"));
    const report = await patient.post(receiver);
    expect(report).toMatchObject({ outcome: "timeout", status: undefined });
    expect(report.durationMs).toBeGreaterThanOrEqual(9_995);
    expect(report.durationMs).toBeLessThan(10_000 + LATE_MS);
  });
});
