import { setTimeout as wait } from "node:timers/promises";
import { FOLLOWING, type Following, pollInTurn, startFollowers } from "./live/followers.ts";
import { createWaits, writePaced } from "./live/paced-writes.ts";
import { createDonation, donationKeys, eachConcurrently, makeAccounts } from "./load/targets.ts";
import { countEach, until } from "./measure/figures.ts";
import { cpuOf, readMemory } from "./measure/process-usage.ts";
import { quantiles } from "./measure/sample.ts";
import { clientsOf } from "./product/start-product.ts";
import { atMost } from "./report/goal.ts";
import { grouped, table } from "./report/table.ts";
import { type Bench, runBench } from "./run/bench.ts";
import { startOneProcess } from "./sides/programs.ts";
import { startStore } from "./stack/servers.ts";

/** An account's limit of requests that wait at the same time. */
const HELD_AN_ACCOUNT = 4;
const MINUTE_S = 60;
/**
 * Requests start within five seconds, and each waits ten. So all of them wait from 6.5 to 9 seconds after the start.
 */
const [SPREAD_MS, HELD_BY_MS, HELD_FOR_MS] = [5_000, 6_500, 2_500];
/** How long a request waits. After that, its follower sends the next one. */
const ROUND_MS = 10_000;
/** A record is lost if its follower has not got it this long after the last write: two intervals of polls. */
const LOST_MS = 10_000;
const ARRIVAL_CHECK_MS = 50;

/** A full run settles for longer than a poll's interval or a wait, so that the start no longer affects the figures. */
const full = {
  ...{ followers: 200, writesPerSecond: 20, seconds: 60, settleMs: 12_000 },
  ...{ held: 10_000, polls: 2_000 },
};
const short = {
  ...{ followers: 10, writesPerSecond: 5, seconds: 2, settleMs: 1_000 },
  ...{ held: 40, polls: 50 },
};
const spec = { name: "bench:live", full, short };
type Settings = typeof full;

type Row = Awaited<ReturnType<typeof measureFollowers>>;

/** Measures how soon and at what cost tools get records, by polls that wait and by polls every five seconds. */
await runBench(spec, async (bench) => {
  const { settings } = bench;
  const ground = await startGround(bench);
  const rows: Row[] = [];
  for (const writes of [settings.writesPerSecond, 0]) {
    for (const how of FOLLOWING) {
      const label = `${writes > 0 ? "Followed beside writes" : "Followed idle"}: ${how}`;
      const measure = () => measureFollowers(ground, settings, how, writes);
      rows.push(await bench.progress.step(label, measure));
    }
  }
  const held = await bench.progress.step("Held requests", () => measureHeld(ground, settings));
  const [waiting, , idleWaiting, idlePolling] = rows;
  const costOf = (row: Row | undefined) => (row?.productMs ?? 0) + (row?.databaseMs ?? 0);
  const idleCost = costOf(idleWaiting) / costOf(idlePolling);
  const delay = held.beside.p50Ms / held.without.p50Ms;
  return {
    on: ground.store.version,
    about: [
      `${settings.followers} tools follow an account each, in turn by polls that wait and by a poll each 5 s, beside`,
      `${settings.writesPerSecond} donations a second and none, for ${settings.seconds} s. Times are from when a write is due until the tool has it.`,
      `CPU is that of a followed minute. Then ${grouped(settings.held)} requests are held, and asked again each 10 s. One process.`,
    ],
    blocks: [
      table(rows, [
        ["tools", ({ how }) => how],
        ["writes/s", ({ writes }) => writes, 0],
        ["p50 ms", ({ p50Ms }) => p50Ms, 1],
        ["p99 ms", ({ p99Ms }) => p99Ms, 1],
        ["requests/min", ({ requests }) => requests, 1],
        ["product CPU ms", ({ productMs }) => productMs, 2],
        ["database CPU ms", ({ databaseMs }) => databaseMs, 2],
      ]),
      table(
        [held],
        [
          ["held", ({ count }) => grouped(count)],
          ["memory MB", ({ held }) => held.megabytes, 0],
          ["CPU, % of a core", ({ held }) => held.percent, 1],
          ["asking again each 10 s: memory MB", ({ renewed }) => renewed.megabytes, 0],
          ["CPU, % of a core", ({ renewed }) => renewed.percent, 1],
          ["a poll beside them, p50 ms", ({ beside }) => beside.p50Ms, 2],
          ["without, p50 ms", ({ without }) => without.p50Ms, 2],
        ],
      ),
    ],
    goals: [
      atMost("write to tool with a wait, p50", 15, waiting?.p50Ms ?? Number.NaN, "ms"),
      atMost("write to tool with a wait, p99", 60, waiting?.p99Ms ?? Number.NaN, "ms"),
      atMost("CPU of an idle tool that waits, by one that polls", 0.4, idleCost, "×"),
      atMost("memory of the held requests", 150, held.held.megabytes, "MB"),
      atMost("CPU of the held requests", 5, held.held.percent, "%"),
      atMost("a poll beside the held requests, by one without", 1.1, delay, "×"),
    ],
  };
});

/** Starts the product in one process, with accounts and their API keys. */
async function startGround(bench: Bench<Settings>) {
  const store = await startStore(bench, "live");
  const { port, pid, corePort } = await startOneProcess(bench, "live", store.env);
  const clients = clientsOf(corePort, store);
  const { followers, held } = bench.settings;
  const count = Math.max(followers, Math.ceil(held / HELD_AN_ACCOUNT));
  const accountIds = await makeAccounts(clients, "live", count);
  const apiKeys = await eachConcurrently(accountIds, async (accountId) => {
    await clients.accounts.verifyAccount({ accountId });
    const key = { accountId, name: "live", validityDays: 30 };
    return (await clients.apiKeys.createApiKey(key)).secret;
  });
  const cpu = cpuOf({ product: pid, database: store.pid });
  return { store, port, pid, clients, accountIds, apiKeys, cpu };
}
type Ground = Awaited<ReturnType<typeof startGround>>;

async function measureFollowers(
  { port, apiKeys, accountIds, clients, cpu }: Ground,
  { followers, seconds, settleMs }: Settings,
  how: Following,
  writes: number,
) {
  const waits = createWaits();
  const followed = accountIds.slice(0, followers);
  const keys = donationKeys(followed, writes * seconds, `${how}-${performance.now()}`);
  await eachConcurrently(keys, (key) => createDonation(clients, key));
  const feeds = { port, apiKeys: apiKeys.slice(0, followers), how };
  const following = startFollowers(feeds, settleMs / 2, (place) => {
    waits.end(place, performance.now());
  });
  await wait(settleMs);
  const before = following.requests();
  const minutes = (followers * seconds) / MINUTE_S;
  const pacing = {
    write: (key: (typeof keys)[number]) => clients.donations.payDonation(key),
    begin: (turn: number, dueMs: number) => waits.begin(turn % followers, dueMs),
  };
  const used = await countEach([cpu], async () => {
    await (writes > 0 ? writePaced(keys, writes, pacing) : wait(seconds * 1_000));
    return { count: minutes };
  });
  const requests = (following.requests() - before) / minutes;
  const giveUpMs = performance.now() + LOST_MS;
  const isOver = () => waits.count() === keys.length || performance.now() > giveUpMs;
  await until(isOver, ARRIVAL_CHECK_MS);
  following.stop();
  const took = quantiles(waits.all(keys.length));
  const { "cpu product": productMs = 0, "cpu database": databaseMs = 0 } = used;
  return { how, writes, ...took, requests, productMs, databaseMs };
}

async function measureHeld(
  { port, pid, apiKeys, cpu }: Ground,
  { held: count, polls, settleMs }: Settings,
) {
  const plain = { port, apiKeys, how: "poll" } as const;
  await pollInTurn(plain, polls);
  const without = quantiles(await pollInTurn(plain, polls));
  const memoryBefore = await readMemory(pid);
  const keys = Array.from({ length: count }, (_, place) => apiKeys[place % apiKeys.length] ?? "");
  const startedMs = performance.now();
  const waiting = { port, apiKeys: keys, how: "wait" } as const;
  const followers = startFollowers(waiting, SPREAD_MS, () => undefined);
  const costFor = async (durationMs: number) => {
    const used = await countEach([cpu], async () => {
      const sinceMs = performance.now();
      await wait(durationMs);
      return { count: (performance.now() - sinceMs) / 100 };
    });
    const percent = (used["cpu product"] ?? Number.NaN) + (used["cpu database"] ?? Number.NaN);
    return { percent, megabytes: (await readMemory(pid)).nowMb - memoryBefore.nowMb };
  };
  await wait(HELD_BY_MS);
  const held = await costFor(HELD_FOR_MS);
  await wait(startedMs + ROUND_MS - performance.now());
  const renewed = await costFor(settleMs);
  const beside = quantiles(await pollInTurn(plain, polls));
  followers.stop();
  return { count, without, held, renewed, beside };
}
