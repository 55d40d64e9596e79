import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import type { CheckpointState } from "./checkpoint/checkpoint.ts";
import { type Activity, FeedError, type FollowOptions, file, follow, memory } from "./index.ts";
import { createRecord, KEY, refuse, startTestApi, type TestApi } from "./testing/test-api.ts";

const FIRST = "2000-01-01T00:00:00Z";

let api: TestApi;
let stopped: AbortController;
beforeEach(async () => {
  api = await startTestApi();
  stopped = new AbortController();
});
afterEach(async () => {
  stopped.abort();
  await api.close();
});

const start = (options: Partial<FollowOptions> = {}) =>
  follow({ apiKey: KEY, baseUrl: api.baseUrl, since: FIRST, signal: stopped.signal, ...options });

/** Reads `count` records. The last one does not count as processed yet. */
async function take(follower: ReturnType<typeof start>, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const { value } = await follower.next();
    if (!value) break;
    ids.push(value.id);
  }
  return ids;
}
const idsOf = (records: readonly Activity[]) => records.map(({ id }) => id);
const polls = () => api.asked.filter(({ query }) => query.order === "asc");
function store(from: number, to: number): Activity[] {
  const records = Array.from({ length: to - from + 1 }, (_, index) => createRecord(from + index));
  for (const record of records) api.store(record);
  return records;
}

describe("§4.4 follow", () => {
  it("gives each record once, oldest first, with one fixed since and the last cursor", async () => {
    api.pageSize = 3;
    const records = store(1, 7);
    const follower = start();
    expect(await take(follower, 7)).toEqual(idsOf(records));
    const next = follower.next();
    await expect.poll(() => polls().at(-1)?.query.cursor).toBe("7");
    store(8, 8);
    expect((await next).value).toEqual(createRecord(8));
    for (const { query, headers } of polls()) {
      expect(query).toMatchObject({ order: "asc", since: FIRST, limit: "100" });
      expect(query).not.toHaveProperty("until");
      expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, prefer: "wait=10" });
    }
    expect(polls().map(({ query }) => query.cursor)).toEqual([undefined, "3", "6", "7"]);
  });

  it("begins at the end of the feed without since, and misses nothing after that", async () => {
    store(1, 5);
    const follower = start({ since: undefined });
    const next = follower.next();
    await expect.poll(() => polls().length).toBe(1);
    store(6, 6);
    expect((await next).value?.id).toBe(createRecord(6).id);
    expect(polls()[0]?.query.since).toBe(createRecord(5).recorded_at.replace("000Z", "001Z"));
  });

  it("begins an empty account at its first record", async () => {
    const next = start({ since: undefined }).next();
    await expect.poll(() => polls().length).toBe(1);
    expect(polls()[0]?.query).not.toHaveProperty("since");
    store(1, 1);
    expect((await next).value?.id).toBe(createRecord(1).id);
  });

  it("begins at the end of the whole feed with a filter too, so that a later change of the filter replays nothing", async () => {
    store(1, 5);
    const checkpoint = memory();
    void start({ since: undefined, checkpoint, type: "raid" }).next();
    await expect.poll(() => polls().length).toBe(1);
    const since = createRecord(5).recorded_at.replace("000Z", "001Z");
    expect(api.asked[0]?.query).toEqual({ order: "desc", limit: "1" });
    expect(polls()[0]?.query).toMatchObject({ type: "raid", since });
    expect(checkpoint.load()).toMatchObject({ since });
  });

  it("begins a later follower at its own start, although it shares the cursor of an earlier one", async () => {
    store(1, 1);
    const first = start({ since: undefined });
    const next = first.next();
    await expect.poll(() => polls().length).toBe(1);
    store(2, 4);
    await next;
    await take(first, 2);
    const checkpoint = memory();
    void start({ since: undefined, checkpoint }).next();
    const since = createRecord(4).recorded_at.replace("000Z", "001Z");
    await expect.poll(() => checkpoint.load()).toMatchObject({ since });
  });

  it("ends no follower if a callback throws, or returns a promise that is rejected", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const failure = new Error("a bug of the caller");
    const fail = () => {
      throw failure;
    };
    const records = store(1, 1);
    for (const onWait of [fail, () => Promise.reject(failure)]) {
      api.instead.push(refuse(503, "temporarily_unavailable", { "Retry-After": "0" }));
      const follower = start({ onWait });
      expect(await take(follower, 1)).toEqual(idsOf(records));
      expect(logged).toHaveBeenCalledOnce();
      logged.mockClear();
      await follower.return();
    }
    logged.mockRestore();
  });

  it("polls a service that does not wait when wake() is called", async () => {
    api.isWaiting = false;
    const follower = start();
    const next = follower.next();
    await expect.poll(() => polls().length).toBe(1);
    store(1, 1);
    follower.wake();
    expect((await next).value?.id).toBe(createRecord(1).id);
    expect(polls()).toHaveLength(2);
  });

  it("skips a repeated record", async () => {
    const [first, second] = store(1, 2);
    api.instead.push(() => ({ data: [first], pagination: { has_more: true, next_cursor: "0" } }));
    expect(await take(start(), 2)).toEqual([first?.id, second?.id]);
  });

  it.each([
    ["429", refuse(429, "rate_limit_exceeded", { "Retry-After": "0" }), "rate_limit_exceeded"],
    [
      "503",
      refuse(503, "temporarily_unavailable", { "Retry-After": "0" }),
      "temporarily_unavailable",
    ],
    ["500", refuse(500, "internal_error"), "server_error"],
    [
      "a cut connection",
      (_: unknown, response: { destroy(): void }) => response.destroy(),
      "network_error",
    ],
    ["half an answer", () => undefined, "network_error"],
  ] as const)("continues with the same cursor after %s", async (_name, behaviour, reason) => {
    const waits: string[] = [];
    api.pageSize = 1;
    store(1, 2);
    const follower = start({ onWait: (why) => waits.push(why) });
    await follower.next();
    api.instead.push(behaviour as never);
    expect(await take(follower, 1)).toEqual([createRecord(2).id]);
    expect(polls().map(({ query }) => query.cursor)).toEqual([undefined, "1", "1"]);
    expect(waits).toEqual([reason]);
  });

  it.each([
    [401, "invalid_api_key", "dashboard"],
    [403, "account_unavailable", "once the account is available"],
    [400, "invalid_parameter", "option"],
    [400, "invalid_cursor", "without the cursor"],
    [404, "not_found", "/api/v1"],
    [302, "moved", "baseUrl"],
  ] as const)("ends at %i %s and says what to do", async (status, code, advice) => {
    api.instead.push(refuse(status, code));
    const error = await start()
      .next()
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(FeedError);
    const expected = status === 404 || status === 302 ? "unexpected_answer" : code;
    expect(error).toMatchObject({ code: expected, requestId: "req_0123456789012345678901" });
    expect(error.message).toContain(advice);
    expect(error.message).not.toContain(KEY);
    expect(polls()).toHaveLength(1);
  });

  it("ends without an error when its signal aborts, in a pause and in a request", async () => {
    for (const isWaiting of [false, true]) {
      api.isWaiting = isWaiting;
      const { length } = api.asked;
      const ended = new AbortController();
      const next = start({ signal: ended.signal }).next();
      await expect.poll(() => api.asked.length).toBe(length + 1);
      ended.abort();
      expect(await next).toEqual({ done: true, value: undefined });
    }
    expect(await start({ signal: AbortSignal.abort() }).next()).toMatchObject({ done: true });
  });

  it.each([undefined, createRecord(2).recorded_at])(
    "shares one poller among followers of one key and filters, begun with since %s",
    async (since) => {
      store(1, 1);
      const followers = [1, 2, 3].map(() => start({ since }));
      const first = followers.map((follower) => follower.next());
      await expect.poll(() => polls().length).toBe(1);
      const late = start({ since });
      followers.push(late);
      first.push(late.next());
      // Without since, the late follower first asks whether the others are at the end.
      const asked = since === undefined ? 3 : 1;
      await expect.poll(() => api.asked.length).toBe(asked);
      store(2, 2);
      for (const { value } of await Promise.all(first)) expect(value).toEqual(createRecord(2));
      const second = followers.map((follower) => follower.next());
      store(3, 3);
      for (const { value } of await Promise.all(second)) expect(value).toEqual(createRecord(3));
      expect(polls()).toHaveLength(2);
    },
  );

  it("shares no poller between followers of other keys or platforms", async () => {
    const otherKey = { apiKey: KEY.replace("_0", "_1") };
    for (const other of [{}, otherKey, { platform: "csv" } as const]) void start(other).next();
    await expect.poll(() => polls().length).toBe(3);
  });

  it("gives a slow follower the pages of a quick one without a request", async () => {
    const [quick, slow] = [start(), start()];
    store(1, 1);
    await Promise.all([quick.next(), slow.next()]);
    store(2, 2);
    await quick.next();
    store(3, 3);
    await quick.next();
    expect(await take(slow, 2)).toEqual(idsOf(api.records.slice(1)));
    expect(polls()).toHaveLength(3);
  });

  it("begins at the end of the feed beside a follower that is behind", async () => {
    const slow = start({ since: undefined });
    const next = slow.next();
    await expect.poll(() => polls().length).toBe(1);
    store(1, 1);
    await next;
    store(2, 2);
    const late = start({ since: undefined }).next();
    await expect.poll(() => polls().length).toBe(2);
    store(3, 3);
    expect((await late).value).toEqual(createRecord(3));
    expect(await take(slow, 2)).toEqual(idsOf(api.records.slice(1)));
  });

  it("begins without a record that is deleted by then, which followers have received", async () => {
    const followers = [start({ since: undefined }), start({ since: undefined })];
    const first = followers.map((follower) => follower.next());
    await expect.poll(() => polls().length).toBe(1);
    store(1, 1);
    await Promise.all(first);
    api.records.pop();
    const late = start({ since: undefined }).next();
    await expect.poll(() => polls().length).toBe(2);
    store(2, 2);
    expect((await late).value).toEqual(createRecord(2));
  });

  it("calls onKeyEnding if the key ends within 14 days, and makes no request without it", async () => {
    store(1, 1);
    const days: number[] = [];
    const expiresAt = new Date(Date.now() + 2.5 * 86_400_000).toISOString();
    api.instead.push(() => ({ data: { key: { expires_at: expiresAt } } }));
    await start({ onKeyEnding: (left) => days.push(left), signal: AbortSignal.any([]) })
      .next()
      .catch(() => {});
    await expect.poll(() => days).toEqual([3]);
    api.asked.length = 0;
    await start().next();
    expect(api.asked.map(({ path }) => path)).toEqual(["/activity"]);
  });

  it("ends the request for the key's end with the loop, so that the program can exit", async () => {
    store(1, 1);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    api.refuse = ({ path }) =>
      path === "/me" ? (_asked, response) => void response.on("close", resolve) : undefined;
    const follower = start({ onKeyEnding: () => {} });
    await take(follower, 1);
    await expect.poll(() => api.asked.map(({ path }) => path)).toContain("/me");
    await follower.return();
    await closed;
  });
});

describe("a checkpoint", () => {
  const folder = useFolder("checkpoint");

  it("is saved when the loop asks for the next record, so a restart within a page repeats none", async () => {
    store(1, 5);
    const path = join(folder, "overlay.cursor");
    const first = start({ checkpoint: file(path) });
    expect(await take(first, 3)).toEqual(idsOf(api.records.slice(0, 3)));
    const saved = JSON.parse(readFileSync(path, "utf8"));
    expect(saved).toMatchObject({ cursor: null, processed: idsOf(api.records.slice(0, 2)) });
    await first.return();
    const again = start({ checkpoint: file(path) });
    expect(await take(again, 3)).toEqual(idsOf(api.records.slice(2)));
    const waiting = again.next();
    await expect.poll(() => JSON.parse(readFileSync(path, "utf8")).cursor).toBe("5");
    stopped.abort();
    await waiting;
    stopped = new AbortController();
    const { length } = polls();
    // Another notation of the same time is no change.
    void start({ checkpoint: file(path), since: FIRST.replace("Z", ".000Z") }).next();
    await expect.poll(() => polls()[length]?.query.cursor).toBe("5");
  });

  it.each([
    ["the same", undefined],
    ["another", "raid"],
  ] as const)(
    "keeps the time of the first start, so that nothing is lost while the program is down: %s filter",
    async (_, type) => {
      store(1, 3);
      const checkpoint = memory();
      const first = start({ since: undefined, checkpoint, type });
      const next = first.next();
      await expect.poll(() => polls().length).toBe(1);
      stopped.abort();
      await next;
      stopped = new AbortController();
      store(4, 5);
      expect(await take(start({ since: undefined, checkpoint }), 2)).toEqual(
        idsOf(api.records.slice(3)),
      );
    },
  );

  it("begins without the cursor when since or a filter changes, and skips processed records", async () => {
    store(1, 4);
    const checkpoint = memory();
    await take(start({ checkpoint }), 3);
    const since = createRecord(2).recorded_at;
    const moved = start({ checkpoint, since });
    expect(await take(moved, 2)).toEqual(idsOf(api.records.slice(2)));
    expect(polls().at(-1)?.query).toEqual({ order: "asc", limit: "100", since });
    void moved.next();
    await expect.poll(() => polls().at(-1)?.query.cursor).toBe("3");
    const filtered = start({ checkpoint, since: undefined, type: "follow" });
    void filtered.next();
    await expect
      .poll(() => polls().at(-1)?.query)
      .toEqual({
        ...{ order: "asc", limit: "100", type: "follow" },
        since: createRecord(4).recorded_at,
        ...(polls().at(-1)?.query.cursor && { cursor: "1" }),
      });
  });

  it("misses no record when since was moved back and then a cursor is refused", async () => {
    api.pageSize = 2;
    store(1, 4);
    const checkpoint = memory();
    await take(start({ checkpoint, since: createRecord(2).recorded_at }), 1);
    const processed = idsOf([1, 2, 4].map(createRecord));
    const last = createRecord(4).recorded_at;
    checkpoint.save({ ...(checkpoint.load() as CheckpointState), processed, recorded_at: last });
    // The first page holds only processed records. The cursor of the second one is refused.
    let isRefused = false;
    api.refuse = ({ query }) => {
      if (isRefused || !query.cursor) return undefined;
      isRefused = true;
      return refuse(400, "invalid_cursor");
    };
    expect(await take(start({ checkpoint }), 1)).toEqual([createRecord(3).id]);
    api.refuse = undefined;
  });

  it("is kept without its cursor when that is not valid any more: no record is missed or repeated", async () => {
    api.pageSize = 2;
    store(1, 5);
    const checkpoint = memory();
    const follower = start({ checkpoint });
    await take(follower, 2);
    api.instead.push(refuse(400, "invalid_cursor"));
    expect(await take(follower, 2)).toEqual(idsOf(api.records.slice(2, 4)));
    const since = createRecord(2).recorded_at;
    expect(polls()[2]?.query).toEqual({ order: "asc", limit: "100", since });
    const saved = checkpoint.load();
    expect(saved).toMatchObject({ since: FIRST, from: since });
    await follower.return();
    expect(await take(start({ checkpoint }), 2)).toEqual(idsOf(api.records.slice(3)));
  });

  it("remembers all ids of an import, so that none comes again after an invalid cursor", async () => {
    const at = createRecord(1).recorded_at;
    for (let number = 1; number <= 700; number += 1) {
      api.store({ ...createRecord(number), recorded_at: at });
    }
    api.waitMs = 1_000;
    const follower = start();
    await take(follower, 700);
    const next = follower.next();
    await expect.poll(() => polls().at(-1)?.query.cursor).toBe("700");
    api.instead.push(refuse(400, "invalid_cursor"));
    const { length } = polls();
    await expect.poll(() => polls().length).toBeGreaterThan(length + 8);
    api.store(createRecord(701));
    expect((await next).value).toEqual(createRecord(701));
  });

  it("remembers the last 500 ids", async () => {
    store(1, 620);
    const checkpoint = memory();
    const follower = start({ checkpoint });
    await take(follower, 620);
    void follower.next();
    await expect.poll(() => checkpoint.load()).toMatchObject({ cursor: "620" });
    const processed = idsOf(api.records.slice(120));
    expect(checkpoint.load()).toMatchObject({ processed });
  });

  it.each(["{", "[]", '{"version":2}', '{"version":1,"processed":[]}'])(
    "is refused when it holds something else: %s",
    async (text) => {
      const path = join(folder, "other.json");
      writeFileSync(path, text);
      const next = start({ checkpoint: file(path) }).next();
      await expect(next).rejects.toMatchObject({ code: "invalid_checkpoint" });
    },
  );

  it("passes on its own errors", async () => {
    store(1, 1);
    const checkpoint = file(join(folder, "missing", "overlay.cursor"));
    await expect(start({ checkpoint }).next()).rejects.toMatchObject({ code: "ENOENT" });
  });
});
