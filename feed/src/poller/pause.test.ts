import { expect, it } from "vitest";
import { pauseAfter } from "./pause.ts";

const NOW = { ms: 0, wakeMs: 0 };
const ASK_IN_A_SECOND = { ms: 1_000, wakeMs: 1_000 };

function after(
  { records = 0, hasMore = false, elapsedMs = 0, random = 0.5 },
  headers: Record<string, string> = {},
) {
  const data = Array.from({ length: records });
  const page = { data, pagination: { has_more: hasMore, next_cursor: "c" } };
  return pauseAfter({ page: page as never, headers: new Headers(headers), elapsedMs, random });
}
const rateLimit = (remaining: number, seconds: number) => ({
  RateLimit: `"account";r=${remaining};t=${seconds}`,
});

it("polls at once while more pages follow, and leaves 20 requests to other tools", () => {
  const full = { records: 100, hasMore: true };
  expect(after(full)).toEqual(NOW);
  expect(after(full, rateLimit(21, 9))).toEqual(NOW);
  expect(after(full, rateLimit(20, 9))).toEqual({ ms: 9_000, wakeMs: 9_000 });
});

it("polls a service that does not wait every five seconds, with jitter", () => {
  const times = [0, 0.5, 1].map((random) => after({ random }).ms);
  expect(times).toEqual([4_500, 5_000, 5_500]);
  expect(after({ elapsedMs: 400 }).wakeMs).toBe(600);
  expect(after({}, rateLimit(2, 9))).toEqual({ ms: 5_000, wakeMs: 5_000 });
});

it.each(["wait", "WAIT", "wait=10", "respond-async, wait=10"])(
  "polls at once if %s was applied, and once a second if the answer came early",
  (applied) => {
    const headers = { "Preference-Applied": applied };
    expect(after({ elapsedMs: 10_000 }, headers)).toEqual(NOW);
    expect(after({ elapsedMs: 0 }, headers)).toEqual(ASK_IN_A_SECOND);
  },
);

it.each(["respond-async", "waiter", "no-wait"])("does not read %s as a wait", (applied) => {
  expect(after({ elapsedMs: 10_000 }, { "Preference-Applied": applied }).ms).toBe(5_000);
});

it("polls at once after records, once a second when half of the limit is used, then less often", () => {
  expect(after({ records: 1 }, rateLimit(61, 9)).ms).toBe(0);
  expect(after({ records: 1 }, rateLimit(60, 9))).toEqual(ASK_IN_A_SECOND);
  expect(after({ records: 1 }, rateLimit(30, 9)).ms).toBe(2_000);
  expect(after({ records: 1 }, rateLimit(10, 9)).ms).toBe(6_000);
  expect(after({ records: 1 }, rateLimit(1, 9)).ms).toBe(6_000);
  expect(after({ records: 1 })).toEqual(ASK_IN_A_SECOND);
  expect(after({ records: 1, elapsedMs: 1_500 })).toEqual(NOW);
});

it("pauses while nothing of the limit is left, even after wake()", () => {
  const wait = { ms: 42_000, wakeMs: 42_000 };
  expect(after({ records: 100, hasMore: true }, rateLimit(0, 42))).toEqual(wait);
  expect(after({}, rateLimit(0, 42))).toEqual(wait);
});

it("pauses ten minutes at most, because a timer of more than 24 days ends at once", () => {
  const most = { ms: 600_000, wakeMs: 600_000 };
  expect(after({}, rateLimit(0, 2_592_000))).toEqual(most);
});
