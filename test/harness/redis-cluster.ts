import { vi } from "vitest";
import { findFreePort, LOOPBACK } from "../../dev-stack/src/free-port.ts";
import { sendToRedis, startTestRedis } from "./redis.ts";

export type RedisClusterNode = Awaited<ReturnType<typeof startNode>>;

const MASTERS = 3;
const SLOTS = 16_384;
/** A node that does not answer for this long counts as failed. */
const NODE_TIMEOUT_MILLISECONDS = 2_000;
const JOIN = { timeout: 30_000, interval: 50 };

/**
 * Starts a Redis Cluster of three masters with a third of the slots each. While one is down, the others still serve
 * their slots. Needs Redis 7 or Valkey: older versions have no `cluster-port`.
 */
export async function startTestRedisCluster() {
  const nodes: RedisClusterNode[] = [];
  const start = async () => {
    const node = await startNode();
    nodes.push(node);
    return node;
  };
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const masters = [await start(), await start(), await start()] as const;
    for (const [place, master] of masters.entries()) {
      await master.send("CLUSTER", "SET-CONFIG-EPOCH", place + 1);
      await master.send("CLUSTER", "ADDSLOTSRANGE", firstSlotOf(place), firstSlotOf(place + 1) - 1);
      await meet(master, masters[0]);
    }
    await untilJoined(nodes);
    const [first, ...others] = masters.map(({ port }) => `${LOOPBACK}:${port}`);
    return {
      /** The value of REDIS_URL. It names every master. */
      url: `redis-cluster://${first}?${others.map((node) => `node=${node}`).join("&")}`,
      masters,
      /** Returns a key's slot and the master that had the slot at the start. */
      async find(key: string) {
        const replies = masters.map((master) => master.send("CLUSTER", "KEYSLOT", key));
        const slot = Number(await Promise.any(replies));
        return { slot, master: masters[Math.floor((slot * MASTERS) / SLOTS)] ?? masters[0] };
      },
      /** Starts a replica of a master. The replica takes over when the master is down. */
      async addReplica(master: RedisClusterNode): Promise<void> {
        const replica = await start();
        await meet(replica, master);
        await untilJoined(nodes);
        await replica.send("CLUSTER", "REPLICATE", `${await master.send("CLUSTER", "MYID")}`);
        const info = async () => `${await replica.send("INFO")}`;
        await until(async () => (await info()).includes("master_link_status:up"));
      },
      /** Ends all servers and removes their files. */
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a cluster of one node. */
export async function startLoneNode(options = {}): Promise<RedisClusterNode> {
  const node = await startNode(options);
  await node.send("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1);
  await until(async () => `${await node.send("CLUSTER", "INFO")}`.includes("cluster_state:ok"));
  return node;
}

async function startNode(options = {}) {
  const [port, clusterPort] = [await findFreePort(), await findFreePort()];
  const serverOptions = {
    "--cluster-enabled": "yes",
    "--cluster-port": String(clusterPort),
    "--cluster-node-timeout": String(NODE_TIMEOUT_MILLISECONDS),
    "--cluster-require-full-coverage": "no",
    "--cluster-announce-ip": LOOPBACK,
    ...options,
  };
  const redis = await startTestRedis({ port, serverOptions });
  return {
    ...{ ...redis, port, clusterPort },
    /** Sends a command. Resolves with the reply; rejects if the reply is an error. */
    send: (command: string, ...args: (string | number)[]) =>
      sendToRedis(redis.url, command, ...args),
  };
}

const firstSlotOf = (place: number) => Math.ceil((place * SLOTS) / MASTERS);

const meet = (node: RedisClusterNode, other: RedisClusterNode) =>
  node.send("CLUSTER", "MEET", LOOPBACK, other.port, other.clusterPort);

async function untilJoined(nodes: readonly RedisClusterNode[]): Promise<void> {
  const wanted = ["cluster_state:ok", `cluster_slots_ok:${SLOTS}`, `known_nodes:${nodes.length}`];
  for (const node of nodes) {
    await until(async () => {
      const info = `${await node.send("CLUSTER", "INFO")}`;
      return wanted.every((line) => info.includes(line));
    });
  }
}

const until = (isDone: () => Promise<boolean>) => vi.waitUntil(isDone, JOIN);
