import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { createFeedChanges, type FeedChanges } from "./feed-changes.ts";

const given = { accountId: "account00000000", version: 7 };
/** A pool of a database that is out of reach. */
const pool = createPool("mysql://nobody@127.0.0.1:1/nowhere", 1);
// The driver's `end` rejects while a connection is refused.
afterAll(() => pool.end().catch(() => undefined));

it("a watch that begins while the database is out of reach gets no heartbeat, so that its gateway asks another core", async () => {
  const changes = createFeedChanges(pool, QUIET, () => performance.now());
  const batches = changes.watch(new AbortController().signal);
  expect((await batches.next()).value).toEqual([]);
  const second = batches.next().then(() => "a heartbeat");
  // Waits for three times the time between heartbeats.
  const none = new Promise((resolve) => setTimeout(resolve, 1_500, "none"));
  expect(await Promise.race([second, none])).toBe("none");
  changes.close();
  await second;
});

describe("a watch of a database that answers in 1.2 seconds", () => {
  let nowMs = 0;
  let isAway = false;
  let failures = 0;
  const spans: unknown[] = [];
  const connection = {
    query(_sql: string, [micros]: unknown[], answer: (error: null, rows: []) => void) {
      spans.push(micros);
      nowMs += 1_200;
      answer(null, []);
    },
    release: () => undefined,
  };
  const getConnection = (take: (error: Error | null, connection?: unknown) => void) => {
    if (!isAway) return take(null, connection);
    failures += 1;
    take(new Error("out of reach"));
  };
  const slow = { pool: { getConnection } } as unknown as Pool; // A look uses nothing else.

  it("gets heartbeats until the database fails, so that its gateway stays", async () => {
    const changes = createFeedChanges(slow, QUIET, () => nowMs);
    const batches = changes.watch(new AbortController().signal);
    await batches.next();
    expect((await batches.next()).value).toEqual([]);
    // A first look goes back 15 seconds. Later ones go back five seconds more than needed, for late commits. ADR 0052
    await expect.poll(() => spans.slice(0, 2)).toEqual([15_000_000, 6_200_000]);
    isAway = true;
    await expect.poll(() => failures).toBeGreaterThan(0);
    const third = batches.next().then(() => "a heartbeat");
    // Waits for longer than the time between heartbeats.
    const none = new Promise((resolve) => setTimeout(resolve, 800, "none"));
    expect(await Promise.race([third, none])).toBe("none");
    changes.close();
    await third;
  });
});

it("a watch whose caller goes while it takes a batch is given up, so that an idle core does not look", async () => {
  let looks = 0;
  const getConnection = (take: (error: Error) => void) => {
    looks += 1;
    take(new Error("out of reach"));
  };
  const counting = { pool: { getConnection } } as unknown as Pool; // A look uses nothing else.
  const changes = createFeedChanges(counting, QUIET, () => performance.now());
  const caller = new AbortController();
  await changes.watch(caller.signal).next();
  await expect.poll(() => looks).toBeGreaterThan(0);
  caller.abort();
  const before = looks;
  // Waits for longer than the time between looks.
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(looks).toBe(before);
  changes.close();
});

it("ADR 0052: a watch begins with the changes of the last 15 seconds, even while the database is out of reach", async () => {
  let nowMs = 0;
  const changes = createFeedChanges(pool, QUIET, () => nowMs);
  const begin = async () => (await changes.watch(new AbortController().signal).next()).value;
  expect(await begin()).toEqual([]);
  changes.note([given]);
  nowMs += 14_000;
  expect(await begin()).toEqual([given]);
  nowMs += 2_000;
  await expect.poll(begin).toEqual([]);
  changes.close();
});

describe("a page that waits for its account's feed", () => {
  let changes: FeedChanges;
  beforeEach(() => {
    changes = createFeedChanges(pool, QUIET, () => performance.now());
  });
  afterEach(() => changes.close());
  const HOUR_MS = 3_600_000;
  const wait = (signal = new AbortController().signal) => changes.later(given, HOUR_MS, signal);

  it("gets a later version of it, and nothing of other accounts. ADR 0052", async () => {
    const waiting = wait();
    changes.note([{ accountId: "another00000000", version: 9 }]);
    changes.note([given]);
    changes.note([{ ...given, version: 8 }]);
    expect(await waiting).toBe(8);
  });

  it("gets its own version when its caller goes, and when the core drains or stops", async () => {
    const caller = new AbortController();
    const waiting = [wait(caller.signal), wait()];
    caller.abort();
    expect(await waiting[0]).toBe(7);
    changes.end();
    expect(await waiting[1]).toBe(7);
    const later = wait();
    changes.close();
    expect(await later).toBe(7);
    expect(await wait()).toBe(7);
  });

  it("still gets a later version while the core drains", async () => {
    changes.end();
    const waiting = wait();
    changes.note([{ ...given, version: 8 }]);
    expect(await waiting).toBe(8);
  });
});

it("a watch ends if it is ended while its caller takes a batch", async () => {
  const changes = createFeedChanges(pool, QUIET, () => performance.now());
  const batches = changes.watch(new AbortController().signal);
  await batches.next();
  changes.end();
  expect(await batches.next()).toMatchObject({ done: true });
  changes.close();
});

it("ADR 0043: a watch that begins while the core drains gets changes until the core stops", async () => {
  const changes = createFeedChanges(pool, QUIET, () => performance.now());
  changes.end();
  const batches = changes.watch(new AbortController().signal);
  expect((await batches.next()).value).toEqual([]);
  changes.note([given]);
  expect((await batches.next()).value).toEqual([given]);
  changes.close();
  expect(await batches.next()).toMatchObject({ done: true });
  expect(await changes.watch(new AbortController().signal).next()).toMatchObject({ done: true });
});
