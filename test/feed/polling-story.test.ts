import { expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import type { ActivityJson } from "../harness/json.ts";
import { readPage } from "../harness/pages.ts";
import { useTestStack } from "../harness/stack.ts";
import { emptyWindows } from "./harness-core.ts";

const SINCE = "2020-01-01T00:00:00Z";
const WRITERS = 50;
/** `npm run test:all -- long` writes for a minute. `npm test` must end within minutes. */
const WRITING_MS = process.env.FULL ? 60_000 : 15_000;
const STORY_TIMEOUT_MS = WRITING_MS + 90_000;

const stack = useTestStack();

it(
  "§4.4 a poller that follows asc with one fixed since sees every record once, none skipped, in order, while 50 writers commit with random delays",
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

/** Polls without a pause, as in §4.4, until writing has ended and nothing is left. */
async function follow(apiKey: string, isWriting: () => boolean) {
  const seen: ActivityJson[] = [];
  let cursor = "";
  for (;;) {
    const mayEnd = !isWriting();
    await emptyWindows(stack);
    const query = `?order=asc&since=${SINCE}&limit=7${cursor && `&cursor=${cursor}`}`;
    const { data, pagination } = await readPage(stack, apiKey, query);
    seen.push(...data);
    cursor = pagination.next_cursor ?? "";
    if (mayEnd && data.length === 0) return seen;
  }
}
