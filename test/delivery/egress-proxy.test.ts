import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEgressProxy, ProxyFailure } from "../../workflows/src/http/egress-proxy.ts";
import { listenLocally } from "../harness/listening.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { createSenderHarness } from "./harness-receiver-sender.ts";
import { startTinyproxy } from "./harness-tinyproxy.ts";

const folder = useFolder("tinyproxy");
const tinyproxy = useStarted(() => startTinyproxy(folder));
const harness = useStarted(async () =>
  createSenderHarness({ proxy: createEgressProxy(tinyproxy.url) }),
);

describe("an attempt by way of the egress proxy, ADR 0027", () => {
  it("asks it for the checked address and not for a name, and keeps the connection", async () => {
    const receiver = await harness.receive(answer(200));
    for (let times = 0; times < 2; times++) {
      expect(await harness.post(receiver)).toMatchObject({ outcome: "delivered", status: 200 });
    }
    expect(receiver.connectionCount()).toBe(1);
    expect(await tinyproxy.connectedTo()).toEqual([`127.0.0.1:${receiver.port}`]);
  });

  it("sends an https proxy the proxy's name (SNI), so that a front can choose its certificate", async () => {
    const named: string[] = [];
    const front = createTlsServer({
      SNICallback(name, callback) {
        named.push(name);
        callback(null);
      },
    });
    // The front has no certificate, so the connection fails after the client named the host.
    await expectFailure(`https://localhost:${await listenLocally(front)}`);
    expect(named).toEqual(["localhost"]);
    front.close();
  });

  it("checks the target before it asks the proxy", async () => {
    const before = await tinyproxy.connectedTo();
    const report = await harness.post({ port: 1 });
    expect(report).toMatchObject({ outcome: "unsafe_target" });
    // The proxy logs in order. Once this request is logged, a request of the refused attempt would be too.
    const receiver = await harness.receive(answer(200));
    await harness.post(receiver);
    const allowed = `127.0.0.1:${receiver.port}`;
    expect(await tinyproxy.connectedTo()).toEqual([...before, allowed]);
  });

  it("verifies the receiver's certificate for the name in the URL", async () => {
    const receiver = await harness.receive(answer(200), harness.certificates.otherName);
    const { outcome, detail } = await harness.post(receiver);
    expect([outcome, detail]).toEqual(["network_error", expect.stringMatching(/for another name/)]);
  });

  it("fails as a network_error if the proxy cannot connect to the receiver", async () => {
    const receiver = await harness.receive(answer(200));
    await receiver.stop();
    const detail = "the egress proxy could not connect (EPROXYTARGET)";
    expect(await harness.post(receiver)).toMatchObject({ outcome: "network_error", detail });
  });
});

/** A safe address. */
const TARGET = { address: "93.184.216.34", family: 4 } as const;

/** Checks that the proxy at a URL opens no connection. */
async function expectFailure(proxyUrl: string, signal = AbortSignal.timeout(5_000)) {
  const opened = createEgressProxy(new URL(proxyUrl)).open([TARGET], 443, signal);
  await expect(opened).rejects.toThrow(ProxyFailure);
}

/** Starts a proxy that connects each tunnel to `127.0.0.1`. Its answer to CONNECT ends with the bytes `sent`. */
async function startOwnProxy(sent = "") {
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (head) => {
      const port = Number(/^CONNECT \S+:(\d+) /.exec(head.toString())?.[1]);
      const receiver = connect(port, "127.0.0.1").on("error", () => undefined);
      sockets.add(receiver);
      socket.write(`HTTP/1.1 200 OK\r\n\r\n${sent}`);
      socket.pipe(receiver).pipe(socket);
    });
  });
  return {
    url: new URL(`http://127.0.0.1:${await listenLocally(proxy)}`),
    die() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

it("a proxy gets a password that has no user. ADR 0027", async () => {
  const server = createServer();
  const asked = once(server, "connection").then(async ([socket]) => {
    const [head] = await once(socket, "data");
    socket.destroy();
    return `${head}`;
  });
  await expectFailure(`http://:token@127.0.0.1:${await listenLocally(server)}`);
  expect(await asked).toMatch(new RegExp(`^proxy-authorization: Basic ${btoa(":token")}\\r$`, "m"));
  server.close();
});

it("the proxy is asked for the next address if it cannot connect to one. ADR 0027", async () => {
  const answers = ["503 Service Unavailable", "200 OK"];
  const server = createServer((socket) => {
    socket.once("data", () => socket.write(`HTTP/1.1 ${answers.shift()}\r\n\r\n`));
  });
  const proxy = createEgressProxy(new URL(`http://127.0.0.1:${await listenLocally(server)}`));
  const next = { ...TARGET, address: "93.184.216.35" };
  const { socket, address } = await proxy.open([TARGET, next], 443, AbortSignal.timeout(5_000));
  expect(address).toBe(next.address);
  socket.destroy();
  server.close();
});

it("an attempt that ends closes its connection to a proxy that does not answer", async () => {
  const server = createServer();
  const attempt = new AbortController();
  const closed = once(server, "connection").then(async ([socket]) => {
    attempt.abort();
    await once(socket.resume(), "close");
  });
  await expectFailure(`http://127.0.0.1:${await listenLocally(server)}`, attempt.signal);
  await closed;
  server.close();
});

it("a receiver that speaks before TLS is a network_error, and no failure of the proxy. ADR 0027", async () => {
  const proxy = await startOwnProxy("SSH-2.0-OpenSSH_9.9\r\n");
  const through = createSenderHarness({ proxy: createEgressProxy(proxy.url) });
  const receiver = await through.receive(answer(200));
  expect(await through.post(receiver)).toMatchObject({ outcome: "network_error" });
  proxy.die();
  await through.stop();
});

it("an attempt that was sent stays made when the proxy then dies. ADR 0028", async () => {
  const proxy = await startOwnProxy();
  const through = createSenderHarness({ proxy: createEgressProxy(proxy.url) });
  const receiver = await through.receive((...asked) => {
    if (receiver.requests.length > 1) return proxy.die();
    answer(200)(...asked);
  });
  expect(await through.post(receiver)).toMatchObject({ outcome: "delivered" });
  expect(await through.post(receiver)).toMatchObject({ outcome: "network_error" });
  expect(receiver.requests).toHaveLength(2);
  await through.stop();
});

describe("an attempt is not made, and nothing is sent, while the egress proxy", () => {
  const silent = createServer();
  beforeAll(() => once(silent.listen(0, "127.0.0.1"), "listening"));
  afterAll(() => silent.close());

  it.each([
    ["refuses connections", () => "http://127.0.0.1:1", /ECONNREFUSED/],
    [
      "accepts and does not speak TLS",
      () => `https://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      /it did not accept a connection in time/,
    ],
    ["knows another password", () => `http://owner:x@${tinyproxy.url.host}`, /it answered 40/],
  ])("%s", async (_, urlOf, said) => {
    const through = createSenderHarness({ proxy: createEgressProxy(new URL(urlOf())) });
    const receiver = await through.receive(answer(200));
    const failure = await through.post(receiver).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProxyFailure);
    expect(String(failure)).toMatch(said);
    expect(receiver.connectionCount()).toBe(0);
    await through.stop();
  });
});
