import { setImmediate as turn } from "node:timers/promises";
import { createLog } from "@activity/runtime/log";
import { expect, it } from "vitest";
import { DatabaseTimeoutError } from "../database/deadline.ts";
import { startPeriodicJob } from "./periodic-job.ts";

/** Starts a job that waits until `fail` makes it fail. */
async function begin() {
  const lines: string[] = [];
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const stop = startPeriodicJob("a job", 1, createLog(lines.push.bind(lines)), () => {
    begun.resolve();
    return end.promise;
  });
  // Keeps the process alive, because the job's own timer does not.
  const keepAlive = setInterval(() => {}, 1_000);
  await begun.promise;
  clearInterval(keepAlive);
  return {
    lines,
    stop,
    async fail(error: Error = new Error("a bug")) {
      end.reject(error);
      await turn();
    },
  };
}

it("logs a run that fails in an outage as a warning", async () => {
  const { lines, stop, fail } = await begin();
  await fail(new DatabaseTimeoutError("late"));
  stop();
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: "warn", message: "a job waits for the database", reason: "late" },
  ]);
});

it.each(["a bug", "Pool is closed."])(
  "logs no run that fails because it was stopped: %s",
  async (message) => {
    const { lines, stop, fail } = await begin();
    stop();
    await fail(new Error(message));
    expect(lines).toEqual([]);
  },
);
