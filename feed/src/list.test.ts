import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { list, me } from "./index.ts";
import { createRecord, KEY, refuse, startTestApi, type TestApi } from "./testing/test-api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  for (let number = 1; number <= 7; number += 1) api.store(createRecord(number));
  api.pageSize = 3;
});
afterAll(() => api.close());
beforeEach(() => {
  api.asked.length = 0;
});

const connect = () => ({ apiKey: KEY, baseUrl: api.baseUrl });

describe("§4.4.1 list", () => {
  it("reads the records between since and until by pages, with both fixed, and ends", async () => {
    const [since, until] = [createRecord(2).recorded_at, createRecord(7).recorded_at];
    const ids: string[] = [];
    const options = { ...connect(), since, until, type: "follow", platform: "csv" } as const;
    for await (const { id } of list(options)) ids.push(id);
    expect(ids).toEqual([2, 3, 4, 5, 6].map((number) => createRecord(number).id));
    const query = { order: "asc", limit: "100", since, until, type: "follow", platform: "csv" };
    expect(api.asked.map((asked) => asked.query)).toEqual([query, { ...query, cursor: "3" }]);
    for (const { headers } of api.asked) expect(headers.prefer).toBeUndefined();
  });

  it("reads all records of its start, even if this machine's clock is behind them", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2020) });
    try {
      const ids: string[] = [];
      for await (const { id } of list({ ...connect(), type: "follow" })) {
        if (ids.push(id) === 1) api.store(createRecord(8));
      }
      expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => createRecord(number).id));
      expect(api.asked[0]?.query).toEqual({ type: "follow", order: "desc", limit: "1" });
    } finally {
      vi.useRealTimers();
      api.records.length = 7;
    }
  });

  it("ends at once if no record is in its range", async () => {
    const since = createRecord(8).recorded_at;
    expect(await list({ ...connect(), since }).next()).toEqual({ done: true, value: undefined });
    expect(api.asked.map(({ query }) => query)).toEqual([{ order: "desc", limit: "1", since }]);
  });

  it("throws when its signal aborts, because it is incomplete", async () => {
    const stopped = new AbortController();
    const listing = list({ ...connect(), signal: stopped.signal });
    await listing.next();
    stopped.abort(new Error("enough"));
    const readAll = async () => {
      for await (const _ of listing);
    };
    await expect(readAll()).rejects.toThrow("enough");
  });

  it("gives a repeated record once, and leaves 20 requests to other tools", async () => {
    const records = [1, 2, 3].map(createRecord);
    const first = { data: records.slice(0, 2), pagination: { has_more: true, next_cursor: "1" } };
    const pages = [
      first,
      { data: records.slice(1), pagination: { has_more: false, next_cursor: "2" } },
    ];
    const headers = new Headers({ RateLimit: '"account";r=20;t=9' });
    const text = async () => JSON.stringify(pages.shift());
    const fetch = async () => ({ status: 200, headers, text });
    const listing = list({ ...connect(), fetch, until: "2030-01-01T00:00:00Z" });
    for (const record of first.data) expect((await listing.next()).value).toEqual(record);
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const next = listing.next();
    await vi.advanceTimersByTimeAsync(8_999);
    expect(pages).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect((await next).value).toEqual(records[2]);
  });

  it("gives up after ten failures in a row", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const fetch = vi.fn(() => Promise.reject(new TypeError("fetch failed")));
    const next = list({ ...connect(), fetch }).next();
    const failed = expect(next).rejects.toMatchObject({ code: "unavailable" });
    await vi.advanceTimersByTimeAsync(600_000);
    await failed;
    expect(fetch).toHaveBeenCalledTimes(10);
  });

  it("ends at a refusal", async () => {
    api.instead.push(refuse(401, "invalid_api_key"));
    await expect(list(connect()).next()).rejects.toMatchObject({ code: "invalid_api_key" });
  });
});

it.each([
  { data: [] },
  { data: [], pagination: { page: 1 } },
  { data: {}, pagination: { has_more: false } },
  { data: [], pagination: { has_more: true } },
  { data: [{ id: "1" }], pagination: { has_more: false, next_cursor: null } },
  { data: null },
])("list and me end at another API's 200 with %j", async (body) => {
  api.instead.push(
    () => body,
    () => body,
  );
  const code = "unexpected_answer";
  await expect(list(connect()).next()).rejects.toMatchObject({ code });
  await expect(me(connect())).rejects.toMatchObject({ code });
});

describe("me", () => {
  it("returns the key's end, even after a failure", async () => {
    api.instead.push(refuse(503, "temporarily_unavailable", { "Retry-After": "0" }));
    const { key } = await me(connect());
    expect(key.expires_at).toBe("2999-01-01T00:00:00.000000Z");
  });

  it("gives up after five failures in a row", async () => {
    const failure = refuse(429, "rate_limit_exceeded", { "Retry-After": "0" });
    api.instead.push(...[1, 2, 3, 4, 5].map(() => failure));
    const cause = new TypeError("fetch failed", { cause: new Error("self-signed certificate") });
    const unreachable = me({ ...connect(), fetch: () => Promise.reject(cause) });
    // Both calls wait at the same time. With `Math.random` at 1, the back-off is shortest.
    const random = vi.spyOn(Math, "random").mockReturnValue(1);
    await Promise.all([
      expect(unreachable).rejects.toMatchObject({ code: "unavailable", cause }),
      expect(me(connect())).rejects.toMatchObject({ code: "unavailable" }),
    ]);
    expect(api.asked).toHaveLength(5);
    random.mockRestore();
  });
});
