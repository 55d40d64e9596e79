import { clientBucket } from "@activity/runtime/client-bucket";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { accountBucket } from "../../server/src/admission/account-bucket.ts";
import { createRedisAdmission } from "../../server/src/admission/redis-admission.ts";
import {
  connectWindowRedis,
  countRequests,
  LimiterUnavailableError,
  windowKey,
} from "../../server/src/admission/redis-admission-store.ts";
import { hashApiKey } from "../../server/src/api-key/api-key.ts";
import { createReader } from "../harness/builders.ts";
import { withProductPool } from "../harness/database.ts";
import { expectError, floodUntilNoneIsLate } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import {
  type RedisClusterNode,
  startLoneNode,
  startTestRedisCluster,
} from "../harness/redis-cluster.ts";
import { startTestStack } from "../harness/stack.ts";
import { openDoor } from "../harness/tcp-door.ts";
import { useStarted } from "../harness/use-started.ts";

/** On a busy machine a cluster may need this long to notice a returned node or to promote a replica. */
const HEALED = { timeout: 45_000 };

const cluster = useStarted(startTestRedisCluster);
const stack = useStarted(() => startTestStack({ env: { REDIS_URL: cluster.url } }));
/** The ports of two gateways, later also of a third one. */
let ports: number[];
beforeAll(async () => {
  ports = [stack.gatewayPort, (await stack.startInstance()).gatewayPort];
});

const portOf = (index: number) => ports[index % ports.length] ?? 0;
type Sent = readonly [path: string, address: string, apiKey?: string];
const send = (index: number, ...[path, address, apiKey]: Sent) =>
  requestOf(portOf(index), path, { headers: { "x-forwarded-for": address }, apiKey });

/** Finds one address of a network for each master: the master holds that address's window. */
async function addressesByMaster(network: string): Promise<Map<RedisClusterNode, string>> {
  const found = new Map<RedisClusterNode, string>();
  for (let host = 1; found.size < cluster.masters.length; host++) {
    const address = `${network}.${host}`;
    const { master } = await cluster.find(windowKey(clientBucket(address)));
    if (!found.has(master)) found.set(master, address);
  }
  return found;
}

/** Creates an account with a key. Also returns the slot and the master of its window. */
async function createFoundReader() {
  const { accountId, apiKey } = await createReader(stack);
  const key = windowKey(accountBucket(accountId));
  return { apiKey, key, ...(await cluster.find(key)) };
}

async function apiKeysByMaster(): Promise<Map<RedisClusterNode, string>> {
  const found = new Map<RedisClusterNode, string>();
  while (found.size < cluster.masters.length) {
    const { master, apiKey } = await createFoundReader();
    found.set(master, apiKey);
  }
  return found;
}

const idOf = async (node: RedisClusterNode) => `${await node.send("CLUSTER", "MYID")}`;

/** Asks each instance until it answers with this status. A busy machine's storage may answer too late at first. */
async function expectServed(status: number, ...request: Sent) {
  for (const index of ports.keys()) {
    const answer = async () => (await send(index, ...request)).status;
    await expect.poll(answer, HEALED).toBe(status);
  }
}

async function expectUnavailable(...request: Sent) {
  for (const index of ports.keys()) {
    expectError(await send(index, ...request), 503, "temporarily_unavailable");
  }
}

it("§8 the limits, counted in a Redis Cluster, admit exactly 120 requests of an account whether its window moves between nodes or stays", async () => {
  const exactly120 = [...Array(120).fill(200), ...Array(80).fill(429)];
  expect(await floodUntilNoneIsLate(120, floodMovedAndUnmoved)).toEqual([exactly120, exactly120]);
});

/** Sends 200 requests of each of two accounts, and moves the window of the first account to another node meanwhile. */
async function floodMovedAndUnmoved(): Promise<number[][]> {
  const moves = await createFoundReader();
  const { key, slot, master: from } = moves;
  let stays: typeof moves;
  do stays = await createFoundReader();
  while (stays.master !== from || stays.slot === slot);
  const apiKeys = [moves.apiKey, stays.apiKey];
  const [to] = cluster.masters.filter((each) => each !== from) as [RedisClusterNode];
  const [fromId, toId] = [await idOf(from), await idOf(to)];
  const steps: Record<number, () => Promise<unknown>> = {
    1: async () => {
      await to.send("CLUSTER", "SETSLOT", slot, "IMPORTING", fromId);
      await from.send("CLUSTER", "SETSLOT", slot, "MIGRATING", toId);
    },
    2: async () => {
      const moved = await from.send("MIGRATE", "127.0.0.1", to.port, key, 0, 5000);
      expect(moved).toBe("OK");
    },
    4: async () => {
      for (const node of [to, from]) await node.send("CLUSTER", "SETSLOT", slot, "NODE", toId);
    },
  };
  const statuses: number[][] = [[], []];
  for (let round = 0; round < 10; round++) {
    // Each account sends its requests through the gateways in turn.
    const requests = Array.from({ length: 40 }, (_, index) =>
      send(index >> 1, "/api/v1/me", `192.0.${round}.${index}`, apiKeys[index % 2]),
    );
    const [answers] = await Promise.all([Promise.all(requests), steps[round]?.()]);
    for (const [index, { status }] of answers.entries()) statuses[index % 2]?.push(status);
  }
  expect(await to.send("EXISTS", key)).toBe(1);
  return statuses;
}

describe("REDIS_URL", () => {
  it("that names a node of a cluster as a single server admits no client of another node, and is logged", async () => {
    const instance = await stack.startInstance({
      env: { REDIS_URL: `redis://127.0.0.1:${cluster.masters[0].port}` },
    });
    const address = (await addressesByMaster("10.9.9")).get(cluster.masters[2]) ?? "";
    const request = { headers: { "x-forwarded-for": address } };
    expectError(await requestOf(instance.gatewayPort, "/", request), 500, "internal_error");
    expect(stack.log.join()).toContain("begin it with redis-cluster://");
  });

  it("needs the name of one node of a cluster, and opens every node with its user and password", async () => {
    const ofAll = (...words: string[]) =>
      Promise.all(cluster.masters.map((master) => master.send("ACL", "SETUSER", ...words)));
    await ofAll("limiter", "on", ">p@ss:word", "~*", "+@all");
    const REDIS_URL = `redis-cluster://limiter:p%40ss%3Aword@localhost:${cluster.masters[0].port}`;
    const env = { REDIS_URL, ALLOW_PLAINTEXT: "trusted-network" };
    const instance = await stack.startInstance({ env });
    onTestFinished(async () => {
      await ofAll("default", "+eval", "+evalsha");
    });
    await ofAll("default", "-eval", "-evalsha");
    for (const address of (await addressesByMaster("10.8.8")).values()) {
      const request = { headers: { "x-forwarded-for": address } };
      expect((await requestOf(instance.gatewayPort, "/", request)).status).toBe(404);
    }
  });
});

it("§7 without its shared limiter, a request is refused, and not counted later, while no node of the cluster answers", async () => {
  let answers = false;
  const door = await openDoor(cluster.masters[0].port, () => answers);
  onTestFinished(door.close);
  const count = counterAt(`redis-cluster://127.0.0.1:${door.port}`, clientBucket("100.64.0.3"));
  await expect(count()).rejects.toThrow(LimiterUnavailableError);
  answers = true;
  expect(await vi.waitFor(count, HEALED)).toMatchObject([{ used: 1 }]);
});

/** Returns a function that counts a request of a client. Its connection ends with the test. */
function counterAt(url: string, bucket = clientBucket("192.0.2.1")) {
  const redis = connectWindowRedis(url);
  onTestFinished(() => redis.disconnect());
  return () => countRequests(redis, [bucket]);
}

it("§8 a count whose connection breaks fails, and is not sent again", async () => {
  const bucket = clientBucket("100.64.0.1");
  const { master } = await cluster.find(windowKey(bucket));
  const count = counterAt(cluster.url, bucket);
  const [before] = await vi.waitFor(count, HEALED);
  await pauseWrites(master);
  const broken = expect(count()).rejects.toThrow(LimiterUnavailableError);
  await untilBlocked(master);
  await master.send("CLIENT", "KILL", "TYPE", "NORMAL");
  await broken;
  await master.send("CLIENT", "UNPAUSE");
  expect(await vi.waitFor(count, HEALED)).toMatchObject([{ used: (before?.used ?? 0) + 1 }]);
});

/** Makes a node delay its writes until the test unpauses the node or ends. */
async function pauseWrites(node: RedisClusterNode): Promise<void> {
  onTestFinished(async () => {
    await node.send("CLIENT", "UNPAUSE");
  });
  await node.send("CLIENT", "PAUSE", 600_000, "WRITE");
}

const untilBlocked = (node: RedisClusterNode) =>
  expect.poll(() => node.send("INFO", "clients")).toContain("blocked_clients:1");

it("ADR 0030: does not count the account of a client that left before it was admitted", async () => {
  const { apiKey, key, master: ofAccount } = await createFoundReader();
  const client = clientBucket("100.64.0.2");
  const { master: ofClient } = await cluster.find(windowKey(client));
  const gone = new AbortController();
  const request = { client, keyHash: hashApiKey(apiKey), signal: gone.signal };
  await withProductPool(stack.database, async (pool) => {
    const uses = { note: () => undefined, stop: () => undefined };
    const admission = createRedisAdmission(cluster.url, pool, uses, () => performance.now());
    onTestFinished(() => admission.close());
    await admission.ready;
    await pauseWrites(ofClient);
    const admitted = admission.admit(request).catch(() => undefined);
    await untilBlocked(ofClient);
    gone.abort();
    await ofClient.send("CLIENT", "UNPAUSE");
    expect(await admitted).toBeUndefined();
  });
  expect(await ofAccount.send("EXISTS", key)).toBe(0);
});

it("§7 a cluster that comes back with other addresses is found by the name in REDIS_URL", async () => {
  const [old, next] = [await startLoneNode(), await startLoneNode()];
  onTestFinished(next.stop);
  const door = await openDoor(old.port);
  onTestFinished(door.close);
  const count = counterAt(`redis-cluster://127.0.0.1:${door.port}`);
  await vi.waitFor(count, HEALED);
  await old.stop();
  door.leadNextTo(next.port);
  expect(await vi.waitFor(count, HEALED)).toMatchObject([{ used: 1 }]);
}, 60_000);

it("§7 a request that was refused while a node loads its data is not counted later", async () => {
  // Each of the 20,000 keys takes two milliseconds to load.
  const slow = { "--key-load-delay": "2000", "--loading-process-events-interval-bytes": "1024" };
  const node = await startLoneNode(slow);
  onTestFinished(node.stop);
  const count = counterAt(`redis-cluster://127.0.0.1:${node.port}`);
  await vi.waitFor(count, HEALED);
  await node.send("EVAL", "for i = 1, 20000 do redis.call('SET', '{a}' .. i, '') end", 1, "{a}");
  await node.send("SAVE");
  const restarted = node.restart();
  await expect.poll(() => node.send("PING").catch(String), HEALED).toMatch(/LOADING/);
  await Promise.all(Array.from({ length: 20 }, () => expect(count()).rejects.toThrow()));
  await node.send("CONFIG", "SET", "key-load-delay", 0);
  await restarted;
  expect(await vi.waitFor(count, HEALED)).toMatchObject([{ used: 2 }]);
}, 60_000);

describe("§7 without a shard of its limiter", () => {
  it("the gateway refuses only clients of the missing shard, even after a start, and serves them again without a restart", async () => {
    const [away, ...there] = cluster.masters;
    const addresses = await addressesByMaster("198.51.100");
    const apiKeys = await apiKeysByMaster();
    const addressOf = (master: RedisClusterNode) => addresses.get(master) ?? "";
    const [near = ""] = there.map(addressOf);
    const expectOthersServed = async () => {
      for (const master of there) {
        await expectServed(404, "/nothing", addressOf(master));
        await expectServed(200, "/api/v1/me", near, apiKeys.get(master));
      }
    };
    const expectAllServed = async () => {
      await expectOthersServed();
      await expectServed(404, "/nothing", addressOf(away));
      await expectServed(200, "/api/v1/me", near, apiKeys.get(away));
    };
    const expectOnlyOthersServed = async () => {
      await expectUnavailable("/nothing", addressOf(away));
      await expectUnavailable("/api/v1/me", near, apiKeys.get(away));
      await expectOthersServed();
    };
    await expectAllServed();
    await away.kill();
    await expectOnlyOthersServed();
    // Waits until the other masters report the missing one as failed.
    const stateOf = () => there[0]?.send("CLUSTER", "INFO");
    await expect.poll(stateOf, HEALED).toMatch(/cluster_slots_fail:[1-9]/);
    // A new instance serves too, although REDIS_URL names the failed master first.
    ports.push((await stack.startInstance()).gatewayPort);
    await expectOnlyOthersServed();
    await away.restart();
    await expectAllServed();
  }, 180_000);

  it("a gateway is ready, although its own check is counted on the missing shard", async () => {
    const { master: away } = await cluster.find(windowKey(clientBucket("")));
    const env = { HEALTH_PORT: `${await findFreePort()}` };
    await away.kill();
    onTestFinished(() => away.restart());
    const { state } = await stack.startInstance({ env });
    await expect.poll(state, HEALED).toBe("serving");
  }, 180_000);

  it("all clients are served again once a replica has taken its place", async () => {
    const [, away] = cluster.masters;
    await cluster.addReplica(away);
    const address = (await addressesByMaster("203.0.113")).get(away) ?? "";
    await expectServed(404, "/nothing", address);
    await away.kill();
    await expectServed(404, "/nothing", address);
  }, 180_000);
});
