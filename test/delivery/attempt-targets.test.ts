import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createNameResolver, type ResolveName } from "../../workflows/src/http/name-resolver.ts";
import { createSender } from "../../workflows/src/http/sender.ts";
import { resolveTarget } from "../../workflows/src/http/target-guard.ts";
import { type Receiver, startReceiver } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { type DnsServer, startDnsServer } from "./harness-receiver-dns.ts";
import { BODY, createSenderHarness, HEADERS } from "./harness-receiver-sender.ts";

type TargetRow = {
  readonly url: string;
  readonly addresses?: readonly string[];
  readonly attempt: "safe" | "unsafe_target" | "dns_failed";
  readonly why: string;
};

const vectors = new URL("../vectors/targets.json", import.meta.url);
const rows = JSON.parse(readFileSync(vectors, "utf8")) as TargetRow[]; // Our own file, tested beside it

/** A globally routable address that is assigned to nobody. A connection to it never succeeds. */
const UNASSIGNED = "2e00::1";
/** A loopback address on which nothing else listens. */
const LOOPBACK = "127.83.4.43";

const opened: Socket[] = [];
/** The addresses that the sockets connected to. */
const connectedTo: string[] = [];
const countSocket = (message: unknown) => {
  const { socket } = message as { socket: Socket }; // The message of node:net's channel
  opened.push(socket);
  socket.on("connectionAttempt", (address) => connectedTo.push(address));
};
beforeEach(() => {
  opened.length = 0;
  connectedTo.length = 0;
  subscribe("net.client.socket", countSocket);
});
afterEach(() => {
  unsubscribe("net.client.socket", countSocket);
});

let dns: DnsServer;
let resolve: ResolveName;
const harness = createSenderHarness();
beforeAll(async () => {
  dns = await startDnsServer([]);
  // All attempts share one resolver, as in a worker. It must not cache answers.
  resolve = createNameResolver([dns.address]);
});
afterAll(() => Promise.all([dns.stop(), harness.stop()]));

describe("ADR 0027: a target is safe if every address is globally routable unicast", () => {
  it.each(rows)("$why: $attempt ($url)", async ({ url, addresses = [], attempt }) => {
    const target = await resolveTarget(url, { resolve: async () => addresses });
    expect(target.kind).toBe(attempt);
  });

  it("goes to no address but those that were checked", async () => {
    const addresses = ["8.8.8.8", "2606:4700::1111"];
    const rules = { resolve: async () => addresses };
    expect(await resolveTarget("https://Receiver.example.com./a", rules)).toEqual({
      kind: "safe",
      host: "receiver.example.com",
      port: 443,
      addresses: [
        { address: "8.8.8.8", family: 4 },
        { address: "2606:4700::1111", family: 6 },
      ],
    });
  });
});

describe("§6.4 no packet goes to an unsafe target", () => {
  const refused = rows.filter(({ attempt }) => attempt !== "safe");

  it.each(refused)("$why ($url)", async ({ url, addresses = [], attempt }) => {
    const sender = createSender({ resolve: async () => addresses });
    const report = await sender.attempt({ url, headers: HEADERS, body: BODY });
    expect(report).toMatchObject({ outcome: attempt });
    expect(opened).toHaveLength(0);
    sender.close();
  });

  let listener: Receiver | undefined;
  beforeAll(async () => {
    listener = await startListener();
  });
  afterAll(() => listener?.stop());

  it.each([
    LOOPBACK,
    "127.83.1067",
    "2136146987",
    "0x7f53042b",
    "0177.0123.04.053",
    `[::ffff:${LOOPBACK}]`,
    "public-looking.example.com",
  ])("a listener on this machine's port 443 sees nothing of %s", async (host) => {
    dns.answers = [LOOPBACK];
    const sender = createSender({ resolve });
    const report = await sender.attempt({ url: `https://${host}/`, headers: HEADERS, body: BODY });
    const detail = expect.stringMatching(/^the (address is not public|URL has to have no address)/);
    expect(report).toMatchObject({ outcome: "unsafe_target", detail });
    expect([opened.length, listener?.connectionCount() ?? 0]).toEqual([0, 0]);
    sender.close();
  });

  it("the counters would have seen one: an allowed listener is reached", async () => {
    const receiver = await harness.receive(answer(200));
    expect(await harness.post(receiver)).toMatchObject({ outcome: "delivered" });
    expect([opened.length, receiver.connectionCount()]).toEqual([1, 1]);
  });
});

describe("a name that changes its answer between check and connect", () => {
  const url = "https://rebind.example.com/hook";
  const post = (timeoutMs: number) => {
    const sender = createSender({ resolve, timeoutMs });
    return sender.attempt({ url, headers: HEADERS, body: BODY }).finally(sender.close);
  };

  it("is asked once, and the connection goes to the answer that was checked", async () => {
    dns.answers = [UNASSIGNED];
    const asked = dns.questionCount();
    const pending = post(5_000);
    await expect.poll(() => dns.questionCount(), { interval: 1 }).toBe(asked + 2);
    dns.answers = ["127.0.0.1"];
    const report = await pending;
    expect(["timeout", "network_error"]).toContain(report.outcome);
    expect(dns.questionCount()).toBe(asked + 2);
    expect(opened).toHaveLength(1);
    expect(connectedTo).toEqual([UNASSIGNED]);
  });

  it.each([
    ["a private answer", ["127.0.0.1"], "unsafe_target"],
    ["a mixed answer", [UNASSIGNED, "127.0.0.1"], "unsafe_target"],
    ["no answer", [], "dns_failed"],
  ] as const)("is refused by the next attempt, which finds %s", async (_what, answers, outcome) => {
    dns.answers = answers;
    expect(await post(2_000)).toMatchObject({ outcome });
    expect(opened).toHaveLength(0);
  });

  it("is dns_failed where no DNS server listens, and nothing is sent", async () => {
    const silent = await startDnsServer([]);
    await silent.stop();
    const sender = createSender({ resolve: createNameResolver([silent.address]) });
    const report = await sender.attempt({ url, headers: HEADERS, body: BODY });
    expect(report).toMatchObject({ outcome: "dns_failed" });
    expect(opened).toHaveLength(0);
    sender.close();
  });
});

describe("the environment changes nothing", () => {
  const NAMES = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
  const saved = NAMES.concat("NODE_TLS_REJECT_UNAUTHORIZED").map((name) => [
    name,
    process.env[name],
  ]);
  afterEach(() => {
    for (const [name = "", value] of saved) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it("no proxy is used", async () => {
    const proxy = await startReceiver(answer(200));
    for (const name of NAMES) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    const receiver = await harness.receive(answer(200));
    expect(await harness.post(receiver)).toMatchObject({ outcome: "delivered" });
    expect(proxy.connectionCount()).toBe(0);
    await proxy.stop();
  });

  it("certificates are verified", async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    const receiver = await harness.receive(answer(200), "selfSigned");
    expect(await harness.post(receiver)).toMatchObject({ outcome: "network_error" });
    expect(receiver.requests).toHaveLength(0);
  });
});

const NAME = "receiver.example.com";
const IPV4 = "8.8.8.8";
const IPV6 = "2606:4700::1111";

const started: DnsServer[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function startServers(count: number): Promise<readonly DnsServer[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => startDnsServer([])));
  started.push(...servers);
  return servers;
}

describe("§6.4 the look-up of a name leaves time of the ten seconds for the attempt", () => {
  it("finds the addresses of both families", async () => {
    const [server] = await startServers(1);
    if (server === undefined) throw new Error("one was started");
    server.answers = [IPV4, IPV6];
    expect(await createNameResolver([server.address])(NAME)).toEqual([IPV4, IPV6]);
  });

  it.each([
    [6, IPV4],
    [4, IPV6],
  ] as const)(
    "waits for servers that are silent on IPv%i no longer than it takes to ask twice",
    async (family, address) => {
      const servers = await startServers(2);
      for (const server of servers) {
        server.answers = [IPV4, IPV6];
        server.silentOn = family;
      }
      const resolve = createNameResolver(servers.map((server) => server.address));
      expect(await resolve(NAME)).toEqual([address]);
      // Without its own limit the resolver would ask each server twice, which takes as long as a whole attempt.
      const asked = servers.reduce((sum, server) => sum + server.questionCount(), 0);
      expect(asked).toBeLessThan(1 + 4);
    },
  );
});

describe("the servers that are asked", () => {
  it("are read again once none of them was reached, as on a machine that changed networks", async () => {
    const gone = await startDnsServer([]);
    await gone.stop();
    const [reached] = await startServers(1);
    if (reached === undefined) throw new Error("one was started");
    reached.answers = [IPV4];
    const system = [gone.address];
    const resolve = createNameResolver(system);
    await expect(resolve(NAME)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    system[0] = reached.address;
    expect(await resolve(NAME)).toEqual([IPV4]);
  });
});

/**
 * Starts a listener where a request to an unsafe target would arrive. It may fail: port 443 often needs root, macOS
 * has only 127.0.0.1, and another run may hold the port. Then only the count of opened sockets proves it.
 */
async function startListener(): Promise<Receiver | undefined> {
  try {
    return await startReceiver(answer(200), undefined, { host: LOOPBACK, port: 443 });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException; // An error of bind(2)
    if (["EACCES", "EADDRNOTAVAIL", "EADDRINUSE"].includes(code)) return undefined;
    throw error;
  }
}
