import { afterEach, describe, expect, it } from "vitest";
import { createNameResolver } from "../../workflows/src/http/name-resolver.ts";
import { type DnsServer, startDnsServer } from "./harness-receiver-dns.ts";

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
      // To its end each server would be asked twice, which takes as long as the whole attempt may.
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
