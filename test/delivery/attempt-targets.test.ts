import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createNameResolver, type ResolveName } from "../../workflows/src/http/name-resolver.ts";
import { createSender, type SenderOptions } from "../../workflows/src/http/sender.ts";
import { resolveTarget } from "../../workflows/src/http/target-guard.ts";
import { startReceiver } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { type DnsServer, startDnsServer } from "./harness-receiver-dns.ts";
import { BODY, createSenderHarness, HEADERS, useOpenedSockets } from "./harness-receiver-sender.ts";

type TargetRow = {
  readonly url: string;
  readonly addresses?: readonly string[];
  readonly attempt: "safe" | "unsafe_target" | "dns_failed";
  readonly why: string;
};

const vectors = new URL("../vectors/targets.json", import.meta.url);
const rows = JSON.parse(readFileSync(vectors, "utf8")) as TargetRow[]; // The file is ours, so its form is known.

/** A globally routable address that is assigned to nobody. A connection to it never succeeds. */
const UNASSIGNED = "2e00::1";
const NAME = "receiver.example.com";
const IPV4 = "8.8.8.8";
const IPV6 = "2606:4700::1111";

/** An address where no DNS server listens. The port is fixed, because another process could take a freed port. */
const NOWHERE = "127.0.0.1:1";

const { opened, tried } = useOpenedSockets();
let dns: DnsServer;
let resolve: ResolveName;
const harness = createSenderHarness();
beforeAll(async () => {
  dns = await startDnsServer();
  // All attempts share one resolver, as in a worker. It must not cache answers.
  resolve = createNameResolver([dns.address]);
});
afterAll(() => Promise.all([dns.stop(), harness.stop()]));

/** Makes an attempt as the product does, except for these options. */
function attempt(url: string, options: SenderOptions) {
  const sender = createSender(options);
  return sender.attempt({ url, headers: HEADERS, body: BODY }).finally(sender.close);
}

describe("ADR 0027: a target is safe if every address is globally routable unicast", () => {
  it.each(rows)("$why: $attempt ($url)", async ({ url, addresses = [], attempt }) => {
    const target = await resolveTarget(url, { resolve: async () => addresses });
    expect(target.kind).toBe(attempt);
  });

  it("goes to no address but those that were checked", async () => {
    const rules = { resolve: async () => [IPV4, IPV6] };
    expect(await resolveTarget("https://Receiver.example.com./a", rules)).toEqual({
      kind: "safe",
      host: "receiver.example.com",
      port: 443,
      addresses: [
        { address: IPV4, family: 4 },
        { address: IPV6, family: 6 },
      ],
    });
  });
});

describe("§6.4 no packet goes to an unsafe target", () => {
  const refused = rows.filter(({ attempt }) => attempt !== "safe");

  it.each(refused)("$why ($url)", async ({ url, addresses = [], attempt: outcome }) => {
    const report = await attempt(url, { resolve: async () => addresses });
    expect(report).toMatchObject({ outcome });
    expect(opened).toHaveLength(0);
  });

  it("the count of sockets includes a connection to an allowed target", async () => {
    const receiver = await harness.receive(answer(200));
    expect(await harness.post(receiver)).toMatchObject({ outcome: "delivered" });
    expect([opened.length, receiver.connectionCount()]).toEqual([1, 1]);
  });
});

describe("a name that changes its answer between check and connect", () => {
  const url = "https://rebind.example.com/hook";

  it("is asked once, and the connection goes to the answer that was checked", async () => {
    dns.answers = [UNASSIGNED];
    const asked = dns.questionCount();
    const pending = attempt(url, { resolve, timeoutMs: 5_000 });
    await expect.poll(() => dns.questionCount(), { interval: 1 }).toBe(asked + 2);
    dns.answers = ["127.0.0.1"];
    const report = await pending;
    expect(["timeout", "network_error"]).toContain(report.outcome);
    expect(dns.questionCount()).toBe(asked + 2);
    expect(opened).toHaveLength(1);
    expect(tried).toEqual([UNASSIGNED]);
  });

  it.each([
    ["a private answer", ["127.0.0.1"], "the address is not public"],
    ["a mixed answer", [UNASSIGNED, "127.0.0.1"], "the name has public and other addresses"],
  ])("is refused by the next attempt, which finds %s", async (_what, answers, detail) => {
    dns.answers = answers;
    const report = await attempt(url, { resolve });
    expect(report).toMatchObject({ outcome: "unsafe_target", detail });
    expect(opened).toHaveLength(0);
  });

  it("is dns_failed if it has no answer or no DNS server listens, and nothing is sent", async () => {
    dns.answers = [];
    expect(await attempt(url, { resolve })).toMatchObject({ outcome: "dns_failed" });
    const unreached = createNameResolver([NOWHERE]);
    expect(await attempt(url, { resolve: unreached })).toMatchObject({ outcome: "dns_failed" });
    expect(opened).toHaveLength(0);
  });
});

it("an IPv4 address that its DNS server finds slowly is found, also after many quick answers", async () => {
  dns.answers = [IPV4, IPV6];
  const find = createNameResolver([dns.address]);
  for (let asked = 0; asked < 20; asked++) await find(`quick-${asked}.example.com`);
  // Makes other look-ups, by which the resolver notices at once that a try took too long.
  const others = setInterval(() => void find("quick.example.com").catch(() => undefined), 20);
  const found = await find("slow.example.com").finally(() => clearInterval(others));
  expect(found).toEqual([IPV4, IPV6]);
});

describe("environment variables change nothing", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("no proxy is used", async () => {
    const proxy = await startReceiver(answer(200));
    for (const name of ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"]) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    }
    const receiver = await harness.receive(answer(200));
    expect(await harness.post(receiver)).toMatchObject({ outcome: "delivered" });
    expect(proxy.connectionCount()).toBe(0);
    await proxy.stop();
  });

  it("certificates are verified", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const receiver = await harness.receive(answer(200), harness.certificates.selfSigned);
    expect(await harness.post(receiver)).toMatchObject({ outcome: "network_error" });
    expect(receiver.requests).toHaveLength(0);
  });
});

describe("§6.4 the look-up of a name leaves time of the ten seconds for the attempt", () => {
  it.concurrent.each([
    [6, IPV4],
    [4, IPV6],
  ] as const)(
    "gives up on servers that are silent on IPv%i before it has asked each twice",
    async (family, address) => {
      const servers = await Promise.all([startDnsServer(), startDnsServer()]);
      for (const server of servers) {
        server.answers = [IPV4, IPV6];
        server.silentOn = family;
      }
      const found = await createNameResolver(servers.map((server) => server.address))(NAME);
      expect(found).toEqual([address]);
      // Without its own limit the resolver would ask each server twice, which takes as long as a whole attempt.
      const asked = servers.reduce((sum, server) => sum + server.questionCount(), 0);
      expect(asked).toBeLessThan(1 + 4);
      for (const server of servers) await server.stop();
    },
  );
});

it.each([
  ["SERVFAIL", 2],
  ["NOTIMP", 4],
  ["REFUSED", 5],
])(
  "a name is found if one DNS server answers %s and another one knows it",
  async (_code, rcode) => {
    const failing = await startDnsServer();
    failing.rcode = rcode;
    dns.answers = [IPV4, IPV6];
    const find = createNameResolver([failing.address, NOWHERE, dns.address]);
    expect(await find(NAME)).toEqual([IPV4, IPV6]);
    await failing.stop();
  },
);

it("a resolver reads its servers again once the old ones refused or none was reached, as on a machine that changed networks", async () => {
  const refusing = await startDnsServer();
  refusing.rcode = 5;
  dns.answers = [IPV4];
  for (const [old, code] of [
    [refusing.address, "EREFUSED"],
    [NOWHERE, "ECONNREFUSED"],
  ] as const) {
    const system: string[] = [old];
    const resolve = createNameResolver(system);
    await expect(resolve(NAME)).rejects.toMatchObject({ code });
    system[0] = dns.address;
    expect(await resolve(NAME)).toEqual([IPV4]);
  }
  await refusing.stop();
});
