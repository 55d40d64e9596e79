import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { createPool } from "../database/pool.ts";
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
  // Three times the time between heartbeats.
  const none = new Promise((resolve) => setTimeout(resolve, 1_500, "none"));
  expect(await Promise.race([second, none])).toBe("none");
  changes.close();
  await second;
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

  it("gets its own version when its caller goes, and when the core drains", async () => {
    const caller = new AbortController();
    const waiting = [wait(caller.signal), wait()];
    caller.abort();
    expect(await waiting[0]).toBe(7);
    changes.close();
    expect(await waiting[1]).toBe(7);
    expect(await wait()).toBe(7);
  });
});

it("a watch ends if it is ended while its caller takes a batch", async () => {
  const changes = createFeedChanges(pool, QUIET, () => performance.now());
  const batches = changes.watch(new AbortController().signal);
  await batches.next();
  changes.close();
  expect(await batches.next()).toMatchObject({ done: true });
});
