import { afterEach, expect, it, vi } from "vitest";
import { createRecord } from "../testing/test-api.ts";
import { createPoller } from "./poller.ts";

afterEach(() => vi.restoreAllMocks());

it("forgets the pauses of followers that left after the longest pause", async () => {
  const body = { data: [], pagination: { has_more: false, next_cursor: "c" } };
  const answer = { status: 200, headers: new Headers(), text: async () => JSON.stringify(body) };
  const fetch = async () => answer;
  const poller = createPoller({ apiKey: "", baseUrl: "http://api.test", fetch }, {});
  const stored = vi.spyOn(Map.prototype, "set");
  const clock = vi.spyOn(performance, "now");
  const sizeAfterPoll = async (minutes: number) => {
    clock.mockReturnValue(minutes * 60_000);
    await poller.next({ since: `${minutes}`, cursor: undefined }, undefined);
    const index = stored.mock.calls.findLastIndex(([, value]) => value?.pause);
    return (stored.mock.contexts[index] as Map<unknown, unknown>).size;
  };
  expect(await sizeAfterPoll(0)).toBe(1);
  expect(await sizeAfterPoll(1)).toBe(2);
  expect(await sizeAfterPoll(10)).toBe(3);
  expect(await sizeAfterPoll(20)).toBe(2);
});

it("requests a page again after a minute, because a record may have been refunded or deleted", async () => {
  const body = { data: [createRecord(1)], pagination: { has_more: false, next_cursor: "c" } };
  const answer = { status: 200, headers: new Headers(), text: async () => JSON.stringify(body) };
  const fetch = vi.fn(async () => answer);
  const poller = createPoller({ apiKey: "", baseUrl: "http://api.test", fetch }, {});
  // The poller keeps pages only if there is a second follower.
  for (let count = 0; count < 2; count += 1) poller.followers.add(() => {});
  const clock = vi.spyOn(performance, "now");
  const requestsAfter = async (ms: number) => {
    clock.mockReturnValue(ms);
    await poller.next({ since: undefined, cursor: undefined }, undefined);
    return fetch.mock.calls.length;
  };
  expect(await requestsAfter(0)).toBe(1);
  expect(await requestsAfter(59_999)).toBe(1);
  expect(await requestsAfter(60_000)).toBe(2);
});
