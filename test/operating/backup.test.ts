import { DeliveryState } from "@activity/proto";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../workflows/src/workflow/contract.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { BUSY, restoreUnderLoad, SETTLE } from "./harness-restored.ts";

const folder = useFolder("backup");
const restored = useStarted(() => restoreUnderLoad(folder), 300_000);

describe("a restored database whose Temporal knows more. ADR 0045", () => {
  it("ends a run that only Temporal has, posts nothing for it, and logs it", async () => {
    const { served, ids, seen, handleOf } = restored;
    const result: RunResult = await handleOf(ids.lost).result();
    expect(result).toEqual({ end: "unknown", attempts: [BUSY] });
    expect(seen("lost")).toEqual(["1"]);
    const lines = () => served.log().match(/^.*does not hold.*$/gm) ?? [];
    const line = { deliveryId: ids.lost, run: 1, attempt: 2 };
    await expect.poll(() => lines().map((each) => JSON.parse(each)), SETTLE).toMatchObject([line]);
    expect(await served.metrics()).toMatch(/^activity_unknown_runs_total 1$/m);
  });

  it("records the result of a run that has ended in Temporal, and posts nothing", async () => {
    const { ids, seen, read } = restored;
    const done = { state: DeliveryState.DELIVERED, attempts: 2, numbers: [1, 2] };
    await expect.poll(() => read(ids.done), SETTLE).toMatchObject(done);
    expect(seen("done")).toEqual(["1", "2"]);
  });

  it("prints a time before the end of its dump, has no earlier session, and has a feed of a later version", () => {
    const { printed, startedMs, dumpedMs, sessions, versions } = restored;
    const [, newest = ""] = /newest_in_backup_utc\s+(\d\S+ [\d:.]+)/.exec(printed.join("\n")) ?? [];
    const newestMs = Date.parse(`${newest.replace(" ", "T")}Z`);
    expect(newestMs).toBeGreaterThan(startedMs);
    // Also if the clock of the deliveries is ahead.
    expect(newestMs).toBeLessThanOrEqual(dumpedMs);
    expect(sessions).toEqual([]);
    const [before = 0, after = 0] = versions;
    expect(after).toBeGreaterThan(before);
  });
});

it("the feed of a restored database is one moment of the lost feed, and gets back what its writers repeat. §4.4", async () => {
  const { readOn, cursor, written, donate } = restored;
  const before = (await readOn()).data;
  const names = before.map(({ actor }) => actor.name);
  const load = names.filter((name) => name?.startsWith("load-"));
  expect(load.length).toBeGreaterThan(0);
  expect(load.length).toBeLessThan(written.length);
  expect(names).not.toContain("lost");
  // The old cursor comes after everything that was restored and before everything new.
  expect(await readOn(cursor)).toEqual({ data: [], cursor });

  const ids = new Map(before.map(({ id, actor }) => [actor.name, id]));
  const everything = [...written, "done", "lost"];
  const recordIds = await Promise.all(everything.map(donate));
  for (const [place, recordId] of recordIds.entries()) {
    const known = ids.get(everything[place] ?? "");
    if (known !== undefined) expect(`don_${recordId}`).toBe(known);
  }
  const after = (await readOn()).data.map(({ actor }) => actor.name);
  expect(after.toSorted()).toEqual(everything.toSorted());
  const behind = (await readOn(cursor)).data.map(({ actor }) => actor.name);
  expect(behind).toEqual(after.slice(names.length));
  expect(behind).toContain("lost");
});
