import { afterEach, expect, it, vi } from "vitest";
import { createKeyCheck, daysLeft } from "./key-ending.ts";

const NOW = "2026-03-01T12:00:00.000000Z";

it.each([
  ["2026-03-15T12:00:00.000000Z", 14],
  ["2026-03-15T12:00:00.001000Z", undefined],
  ["2026-03-02T12:00:00.000000Z", 1],
  ["2026-03-01T12:00:01.000000Z", 1],
  ["2026-02-01T12:00:00.000000Z", 0],
])("a key that ends at %s has %s days left to tell of", (expiresAt, days) => {
  expect(daysLeft(expiresAt, Date.parse(NOW))).toBe(days);
});

afterEach(() => void vi.useRealTimers());

it("a key's end is read once a day, also after the clock was ahead", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(NOW) });
  const fetch = vi.fn(async () => Response.json({}));
  const connection = { apiKey: "", baseUrl: "http://127.0.0.1", fetch };
  const check = createKeyCheck(connection, () => {}, AbortSignal.any([]));
  for (const [hours, reads] of [
    [0, 1],
    [23, 1],
    [24, 2],
    [24 * 30, 3],
    [25, 4],
  ] as const) {
    vi.setSystemTime(Date.parse(NOW) + hours * 3_600_000);
    check();
    await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(reads));
  }
});
