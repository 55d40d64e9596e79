import { beforeAll, describe, expect, it } from "vitest";
import { createReader } from "../harness/builders.ts";
import { fillFeed, timeAt } from "../harness/filled-feed.ts";
import type { PageJson } from "../harness/json.ts";
import { rowCounterOf } from "../harness/row-reads.ts";
import { useTestStack } from "../harness/stack.ts";
import { emptyWindows } from "./harness-core.ts";

const LIMIT = 50;
/** Rows that a page may read beyond its limit: one that shows whether more exist, and the starts of its ranges. */
const MORE = 5;

const stack = useTestStack();
let apiKey: string;
let rowsRead: () => Promise<number>;
beforeAll(async () => {
  const reader = await createReader(stack);
  apiKey = reader.apiKey;
  await fillFeed(stack.database, reader.accountId);
  rowsRead = await rowCounterOf(stack.database, "activity");
}, 300_000);

/** Reads a path. Also returns how many rows of `activity` the database read for it. */
async function readCounted(path: string) {
  const before = await rowsRead();
  const answer = await stack.http(path, { apiKey });
  return { answer, rows: (await rowsRead()) - before };
}

const filters = {
  none: "",
  type: "&type=cheer",
  platform: "&platform=live_platform_2",
  both: "&type=cheer&platform=live_platform_2",
  "both, which nothing matches": "&type=raid&platform=csv",
};
/** Parts of the feed, as query parameters. */
const parts = {
  whole: () => "",
  middle: () => `&since=${timeAt(0.25)}&until=${timeAt(0.75)}`,
  "far end": (order: string) =>
    order === "asc" ? `&since=${timeAt(0.999)}` : `&until=${timeAt(0.001)}`,
};

describe("a page of an account with 1,000,000 records, 300,000 of them hidden", () => {
  const cases = Object.entries(filters).flatMap(([name, filter]) =>
    Object.entries(parts).flatMap(([part, boundsOf]) =>
      ["asc", "desc"].map((order) => ({ name, filter, part, boundsOf, order })),
    ),
  );

  it.each(cases)(
    "reads at most five rows more than its limit: filter $name, $order, $part",
    async ({ filter, order, boundsOf }) => {
      const query = `?limit=${LIMIT}&order=${order}${filter}${boundsOf(order)}`;
      let path = `/api/v1/activity${query}`;
      // Reads the first pages, each after the previous cursor.
      for (let page = 0; page < 3; page++) {
        const { answer, rows } = await readCounted(path);
        expect(answer.status).toBe(200);
        const { data, pagination } = answer.json<PageJson>();
        if (page === 0) expect(data.length > 0).toBe(!filter.includes("csv"));
        expect(rows).toBeGreaterThanOrEqual(data.length);
        expect(rows).toBeLessThanOrEqual(LIMIT + MORE);
        if (pagination.next_cursor === null) break;
        path = `/api/v1/activity${query}&cursor=${pagination.next_cursor}`;
      }
    },
  );

  it("reads no row again while the feed does not change: a poll without news, a first page. Each counts and has its own id. ADR 0032, §8", async () => {
    const end = `/api/v1/activity?order=asc&since=${timeAt(0.99999)}`;
    const { pagination } = (await stack.http(end, { apiKey })).json<PageJson>();
    expect(pagination.has_more).toBe(false);
    for (const path of [`${end}&cursor=${pagination.next_cursor}`, "/api/v1/activity"]) {
      await emptyWindows(stack);
      await stack.http(path, { apiKey });
      const first = await stack.http(path, { apiKey });
      const { answer, rows } = await readCounted(path);
      expect(rows).toBe(0);
      expect(answer.text).toBe(first.text);
      expect(answer.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
      // The limit is 120 in a minute, and this is the third request.
      expect(answer.headers.ratelimit).toMatch(/^"account";r=117;/);
    }
  });
});
