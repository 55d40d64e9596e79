import { setImmediate as turn } from "node:timers/promises";
import { createLog } from "@activity/runtime/log";
import { expect, it } from "vitest";
import { startPeriodicJob } from "./periodic-job.ts";

/** Starts a job that waits. `fail` makes it fail. */
async function begin() {
  const lines: string[] = [];
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const stop = startPeriodicJob("a job", 1, createLog(lines.push.bind(lines)), () => {
    begun.resolve();
    return end.promise;
  });
  // Keeps the process alive, which the job's own timer does not.
  const keepAlive = setInterval(() => {}, 1_000);
  await begun.promise;
  clearInterval(keepAlive);
  return {
    lines,
    stop,
    async fail() {
      end.reject(new Error("Pool is closed."));
      await turn();
    },
  };
}

it("logs a run that fails", async () => {
  const { lines, stop, fail } = await begin();
  await fail();
  stop();
  expect(lines.join("")).toContain('"message":"a job failed"');
});

it("logs no run that fails because it was stopped", async () => {
  const { lines, stop, fail } = await begin();
  stop();
  await fail();
  expect(lines).toEqual([]);
});
