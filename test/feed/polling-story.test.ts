import { describe, expect, it } from "vitest";
import { isDeadlock } from "../../server/src/database/outage.ts";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import type { PageJson } from "../harness/json.ts";
import { useTestStack } from "../harness/stack.ts";

const SINCE = "2020-01-01T00:00:00Z";
const WRITERS = 50;
/** `npm run test:all -- long` writes for a minute. `npm test` must end within minutes. */
const WRITING_MS = process.env.FULL ? 60_000 : 15_000;
const STORY_TIMEOUT_MS = WRITING_MS + 90_000;

const stack = useTestStack();

describe("§4.4 a poller that follows asc with one fixed since", () => {
  it(
    "sees every record once, none skipped, in order, while 50 writers commit with random delays",
    async () => {
      const { accountId, apiKey } = await createReader(stack);
      // Each transaction lasts up to 20 ms longer after its record got its place in the feed.
      await stack.database.queryShards(
        "CREATE TRIGGER slow_writers AFTER INSERT ON activity FOR EACH ROW DO SLEEP(RAND() * 0.02)",
      );
      const written: string[] = [];
      const endAt = performance.now() + WRITING_MS;
      const write = async () => {
        while (performance.now() < endAt) {
          written.push(`evt_${await createPlatformEvent(stack, accountId)}`);
        }
      };
      let writing = true;
      const poller = follow(apiKey, () => writing);
      await Promise.all(Array.from({ length: WRITERS }, write));
      writing = false;
      const seen = await poller;

      expect(written.length).toBeGreaterThan(WRITERS);
      expect(seen.map(({ id }) => id).toSorted()).toEqual(written.toSorted());
      const order = seen.map(({ recorded_at, id }) => `${recorded_at} ${id.slice(4)}`);
      expect(order).toEqual(order.toSorted());
    },
    STORY_TIMEOUT_MS,
  );
});

/** Polls without a pause, as in §4.4, until writing has ended and nothing is left. */
async function follow(apiKey: string, isWriting: () => boolean) {
  const seen: PageJson["data"] = [];
  let cursor = "";
  for (;;) {
    const mayEnd = !isWriting();
    const page = await poll(apiKey, cursor);
    seen.push(...page.data);
    cursor = page.pagination.next_cursor ?? "";
    if (mayEnd && page.data.length === 0) return seen;
  }
}

/** This test does not cover limits. After a lost deadlock with the core, the next call empties them. */
async function emptyWindows(): Promise<void> {
  await stack.database.query("DELETE FROM rate_window").catch((error) => {
    if (!isDeadlock(error)) throw error;
  });
}

async function poll(apiKey: string, cursor: string): Promise<PageJson> {
  await emptyWindows();
  const path = `/api/v1/activity?order=asc&since=${SINCE}&limit=7${cursor && `&cursor=${cursor}`}`;
  const answer = await stack.http(path, { apiKey });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json<PageJson>();
}

describe("§4.4 an export", () => {
  it("with a fixed since and until holds each record once, whatever the page size, and ends", async () => {
    const { accountId, apiKey } = await createReader(stack);
    for (let index = 0; index < 25; index++) await createPlatformEvent(stack, accountId);
    const until = "2100-01-01T00:00:00Z";
    for (const limits of [[1], [25], [24], [26], [100], [3, 10, 1]]) {
      const ids: string[] = [];
      let cursor = "";
      let hasMore = true;
      for (let page = 0; hasMore; page++) {
        const limit = limits[page % limits.length];
        const query = `?order=asc&since=${SINCE}&until=${until}&limit=${limit}${cursor && `&cursor=${cursor}`}`;
        const answer = await stack.http(`/api/v1/activity${query}`, { apiKey });
        const { data, pagination } = answer.json<PageJson>();
        expect(data.length).toBeLessThanOrEqual(limit ?? 0);
        expect(pagination.next_cursor).not.toBe(cursor);
        ids.push(...data.map(({ id }) => id));
        cursor = pagination.next_cursor ?? "";
        hasMore = pagination.has_more;
        await emptyWindows();
      }
      expect(new Set(ids).size).toBe(25);
      expect(ids).toHaveLength(25);
    }
  });
});
