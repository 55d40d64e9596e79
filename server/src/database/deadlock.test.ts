import { expect, it, vi } from "vitest";
import { retryAfterDeadlock } from "./deadlock.ts";

const DEADLOCK = Object.assign(new Error("deadlock"), { errno: 1213, sqlState: "40001" });
const OTHER = new Error("other");

it.each([
  ["runs again until it loses no deadlock", [DEADLOCK, DEADLOCK], 3],
  ["gives up after five retries", Array.from({ length: 9 }, () => DEADLOCK), 6],
  ["does not run again after another failure", [OTHER], 1],
])("a transaction %s", async (_, failures, runs) => {
  const run = vi.fn(async () => "done");
  for (const failure of failures) run.mockRejectedValueOnce(failure);
  const result = await retryAfterDeadlock(run).catch((error: unknown) => error);
  expect(result).toBe(failures[runs - 1] ?? "done");
  expect(run).toHaveBeenCalledTimes(runs);
});
