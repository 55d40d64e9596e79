import { expect, it } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { createPool } from "../database/pool.ts";
import { createFeedChanges } from "./feed-changes.ts";

it("a watch that begins while the database is out of reach gets no heartbeat, so that its gateway asks another core", async () => {
  const pool = createPool("mysql://nobody@127.0.0.1:1/nowhere", 1);
  const changes = createFeedChanges(pool, QUIET, () => performance.now());
  const batches = changes.watch(new AbortController().signal);
  expect((await batches.next()).value).toEqual([]);
  const second = batches.next().then(() => "a heartbeat");
  // Three times the time between heartbeats.
  const none = new Promise((resolve) => setTimeout(resolve, 1_500, "none"));
  expect(await Promise.race([second, none])).toBe("none");
  changes.close();
  await second;
  await pool.end();
});
