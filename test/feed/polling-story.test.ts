import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startDatabase } from "../../dev-stack/src/database.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { isDeadlock } from "../../server/src/database/outage.ts";
import { createPlatformEvent, createReader, importDonations, unique } from "../harness/builders.ts";
import type { PageJson } from "../harness/json.ts";
import { startTestStack, type TestStack, useTestStack } from "../harness/stack.ts";
import { createFakeClock } from "./harness-clock.ts";

const SINCE = "2020-01-01T00:00:00Z";
const WRITERS = 50;
/** A minute in `npm run test:all -- long`; `npm test`, which is to end within minutes, writes for a quarter of it. */
const WRITING_MS = process.env.FULL ? 60_000 : 15_000;
const STORY_TIMEOUT_MS = WRITING_MS + 90_000;

const stack = useTestStack();

describe("§4.4 a poller that follows asc with one fixed since", () => {
  it.concurrent(
    "sees every record once, none skipped, in order, while 50 writers commit with random delays",
    async () => {
      await expectNothingSkipped(stack, () => {});
    },
    STORY_TIMEOUT_MS,
  );

  it.concurrent(
    "does so while the database's clock steps back by an hour, and forth",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "activity-clock-"));
      const options = { env: process.env, progress: createProgress() };
      const clock = await createFakeClock(join(folder, "clock"), options);
      const database = await startDatabase({
        ...{ ...options, env: { ...process.env, ...clock.variables } },
        ...{ dataDir: join(folder, "database"), ephemeral: true },
      });
      const shifted = await startTestStack({ serverUrl: database.url });
      try {
        let writing = true;
        let steps = 0;
        const stepping = (async () => {
          for (const offsets = [-3_600, 0, -7_200, 5]; writing; steps++) {
            await clock.setOffset(offsets[steps % offsets.length] ?? 0);
          }
        })();
        await expectNothingSkipped(shifted, () => {
          writing = false;
        });
        await stepping;
        expect(steps).toBeGreaterThan(3);
      } finally {
        await shifted.stop();
        await database.stop();
        await rm(folder, { recursive: true, force: true });
      }
    },
    STORY_TIMEOUT_MS,
  );
});

async function expectNothingSkipped(on: TestStack, afterWriting: () => void): Promise<void> {
  const { accountId, apiKey } = await createReader(on);
  // Each writer's transaction lasts up to 20 ms longer once it has its place in the feed.
  await on.database.queryShards(
    "CREATE TRIGGER slow_writers AFTER INSERT ON activity FOR EACH ROW DO SLEEP(RAND() * 0.02)",
  );
  const written: string[] = [];
  const endAt = performance.now() + WRITING_MS;
  const write = async () => {
    while (performance.now() < endAt) {
      const externalId = unique("event");
      const write = () => createPlatformEvent(on, accountId, { externalId });
      written.push(`evt_${await untilAvailable(write)}`);
    }
  };
  const writers = Promise.all(Array.from({ length: WRITERS }, write));
  let writing = true;
  const poller = follow(on, apiKey, () => writing);
  await writers;
  afterWriting();
  writing = false;
  const seen = await poller;

  expect(written.length).toBeGreaterThan(WRITERS);
  expect(seen.map(({ id }) => id).toSorted()).toEqual(written.toSorted());
  const order = seen.map(({ recorded_at, id }) => `${recorded_at} ${id.slice(4)}`);
  expect(order).toEqual(order.toSorted());
}

/** Polls without a pause, as §4.4 describes, until nothing is written and nothing is left. */
async function follow(on: TestStack, apiKey: string, isWriting: () => boolean) {
  const seen: PageJson["data"] = [];
  let cursor = "";
  for (;;) {
    const mayEnd = !isWriting();
    const page = await poll(on, apiKey, cursor);
    seen.push(...page.data);
    cursor = page.pagination.next_cursor ?? "";
    if (mayEnd && page.data.length === 0) return seen;
  }
}

/** The limits are not what this test is about. Where it loses a deadlock with the core, the next one does it. */
async function emptyWindows(on: TestStack): Promise<void> {
  await on.database.query("DELETE FROM rate_window").catch((error) => {
    if (!isDeadlock(error)) throw error;
  });
}

async function poll(on: TestStack, apiKey: string, cursor: string): Promise<PageJson> {
  await emptyWindows(on);
  const path = `/api/v1/activity?order=asc&since=${SINCE}&limit=7${cursor && `&cursor=${cursor}`}`;
  const answer = await on.http(path, { apiKey });
  // A clock that leaps forth ends waits in the database: the client tries again with the same cursor.
  if (answer.status === 503) return poll(on, apiKey, cursor);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json<PageJson>();
}

/** Does what a writer does when the core is temporarily unavailable: the same again. */
async function untilAvailable<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (ConnectError.from(error).code !== Code.Unavailable) throw error;
    return untilAvailable(write);
  }
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
        await emptyWindows(stack);
      }
      expect(new Set(ids).size).toBe(25);
      expect(ids).toHaveLength(25);
    }
  });

  it("pages through records that were stored at the very same moment", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const stored = await importDonations(stack, accountId, 40);
    const seen: string[] = [];
    let cursor = "";
    for (let hasMore = true; hasMore; ) {
      const answer = await stack.http(`/api/v1/activity?limit=7${cursor && `&cursor=${cursor}`}`, {
        apiKey,
      });
      const { data, pagination } = answer.json<PageJson>();
      expect(new Set(data.map(({ recorded_at }) => recorded_at)).size).toBe(1);
      seen.push(...data.map(({ id }) => id));
      cursor = pagination.next_cursor ?? "";
      hasMore = pagination.has_more;
    }
    expect(seen).toHaveLength(stored);
    expect(new Set(seen).size).toBe(stored);
    expect(seen).toEqual(seen.toSorted().toReversed());
  });
});
