import { ActivityService } from "@activity/proto";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { momentOf } from "../record/record-address.ts";
import { findRecord } from "./find-record.ts";

const MOMENT = momentOf("1700000000.000001000");

/** A feed of three pages, `don_0` to `don_2`. It notes what it is asked for. */
function createFeed() {
  const asked: unknown[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(ActivityService, {
      listActivities({ cursor = "0", since, until }) {
        asked.push([cursor, since?.nanos, until?.nanos]);
        const next = Number(cursor) + 1;
        const hasMore = next < 3;
        return { activities: [{ id: `don_${cursor}` }], hasMore, nextCursor: `${next}` };
      },
    });
  });
  return { asked, feed: createClient(ActivityService, transport) };
}

it.each([
  ["don_0", 1, true],
  ["don_2", 3, true],
  ["don_3", 3, false],
])("looks for %s on %s of the pages of its moment", async (id, pages, isFound) => {
  const { asked, feed } = createFeed();
  expect((await findRecord(feed, id, MOMENT))?.id).toBe(isFound ? id : undefined);
  const all = ["0", "1", "2"].map((cursor) => [cursor, 1_000, 2_000]);
  expect(asked).toEqual(all.slice(0, pages));
});

it("reads only the newest page if the address names no moment", async () => {
  const { asked, feed } = createFeed();
  expect(await findRecord(feed, "don_2", undefined)).toBeUndefined();
  expect(asked).toHaveLength(1);
});
