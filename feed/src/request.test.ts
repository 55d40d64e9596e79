import { describe, expect, it, onTestFinished, vi } from "vitest";
import { attempt } from "./attempt.ts";
import type { Fetch } from "./connection.ts";
import { delayMs } from "./request.ts";

const failed = (reason: "rate_limit_exceeded" | "network_error", retryAfterMs?: number) => ({
  ...{ kind: "failed" as const, reason, retryAfterMs },
});

describe("§4.4.8 the wait after a failure", () => {
  it("is Retry-After and up to a tenth more, at most ten minutes", () => {
    const wait = (ms: number, random: number) => delayMs(failed("network_error", ms), 1, random);
    expect(wait(60_000, 0)).toBe(60_000);
    expect(wait(60_000, 1)).toBe(66_000);
    expect(wait(86_400_000, 0)).toBe(600_000);
  });

  it("is never shorter than the back-off, with any Retry-After", () => {
    const waits = [1, 2, 3].map((failures) =>
      delayMs(failed("rate_limit_exceeded", 0), failures, 0),
    );
    expect(waits).toEqual([1_000, 2_000, 4_000]);
    expect(delayMs(failed("network_error", 1_500), 3, 0)).toBe(4_000);
  });

  it("is 60 seconds if a refusal has no Retry-After", () => {
    expect(delayMs(failed("rate_limit_exceeded"), 1, 0)).toBe(60_000);
    expect(delayMs(failed("rate_limit_exceeded"), 9, 0)).toBe(60_000);
  });

  it("doubles from one second to a minute, and jitter takes away up to half", () => {
    const waits = (random: number) =>
      [1, 2, 3, 7, 50].map((failures) => delayMs(failed("network_error"), failures, random));
    expect(waits(0)).toEqual([1_000, 2_000, 4_000, 60_000, 60_000]);
    expect(waits(1)).toEqual([500, 1_000, 2_000, 30_000, 30_000]);
  });
});

it("a request fails if its answer has not come after 15 seconds. §4.4.8", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const fetch: Fetch = (_, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const outcome = attempt(
    { apiKey: "", baseUrl: "http://api.test", fetch },
    { path: "/me" },
    undefined,
  );
  await vi.advanceTimersByTimeAsync(14_999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await outcome).toMatchObject({ kind: "failed", reason: "timeout" });
});
