import { expect, it } from "vitest";
import { waitForRecord } from "./wait-for-record.ts";

it("ADR 0052: a wait pauses after each change that left its page empty", async () => {
  const pagesAt = (version: bigint) => ({ body: "", emptyFeed: { accountId: "a", version } });
  const pauses: number[] = [];
  let version = 1n;
  const wait = {
    changedAfter: async () => true,
    pause: async (milliseconds: number) => pauses.push(milliseconds) < 3,
    end: () => undefined,
  };
  const readAgain = async () => {
    // The third read still has version 3, as after a failover.
    if (version < 3n) version += 1n;
    return pagesAt(version);
  };
  expect(await waitForRecord(wait, pagesAt(1n), readAgain)).toEqual(pagesAt(3n));
  expect(pauses).toEqual([100, 100, 500]);
});
