import { setTimeout as wait } from "node:timers/promises";
import { createLog } from "@activity/runtime/log";
import { Permission } from "@activity/server";
import type { Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createGateway, type Gateway } from "../../gateway/src/app.ts";
import { createCoreTransport } from "../../gateway/src/upstream.ts";
import { createAccount, createApiKey } from "../harness/builders.ts";
import { type Clients, clientsOf } from "../harness/clients.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { useTestStack } from "../harness/stack.ts";
import {
  type ChangingFeed,
  createChangingFeed,
  type FeedState,
  pick,
  placeOf,
} from "./harness-changing-feed.ts";
import { emptyWindows } from "./harness-core.ts";

/** The number of reads. `npm run test:all -- long` reads a million times. */
const READS = process.env.FULL ? 1_000_000 : 8_000;
const ACCOUNTS = 20;
const READERS = 24;
const WRITERS = 4;
const EMPTY_WINDOWS_EVERY_MS = 200;
const TIMEOUT_MS = process.env.FULL ? 7_200_000 : 180_000;

const stack = useTestStack();
let separate: Gateway;
let closeCore: () => void;
let ports: readonly number[];
let call: Clients;
/** The core's answers to the separate gateway: "not modified", and pages. */
const answers = { same: 0, pages: 0 };
beforeAll(async () => {
  const second = await stack.startInstance();
  const credential = await stack.credential(...Object.values(Permission));
  const coreUrl = `http://127.0.0.1:${second.corePort}`;
  const core = createCoreTransport({ coreUrl, coreTls: {}, revealCredential: () => credential });
  closeCore = core.close;
  separate = createGateway({
    upstream: counting(core.transport),
    trustedProxies: ["127.0.0.1"],
    log: createLog((line) => process.stderr.write(line)),
  });
  ports = [stack.gatewayPort, (await separate.listen(0, "127.0.0.1")).port];
  const cores = [stack.corePort, second.corePort].map((port) =>
    clientsOf(`http://127.0.0.1:${port}`, credential),
  );
  call = (service) => pickOne(cores)(service);
});
afterAll(async () => {
  await separate.close();
  closeCore();
});

function counting(transport: Transport): Transport {
  return {
    ...transport,
    async unary(...args) {
      const response = await transport.unary(...args);
      if ("notModified" in response.message) {
        answers[response.message.notModified ? "same" : "pages"] += 1;
      }
      return response;
    },
  };
}

/** Returns an item of a list that is not empty. */
const pickOne = <T>(all: readonly T[]) => pick(all) as T;

/** A feed, and what all its readers know of it. */
type ReadFeed = ChangingFeed & {
  readonly apiKeys: readonly string[];
  /** The number of the earliest state that the answers so far allow. */
  seen: number;
  /** The cursor of a client that polls, and the place of the record before it. */
  poll: { readonly cursor: string; readonly place: string } | undefined;
};

/** A query, and the records of a state that answer it. All follows are on `live_platform_1`. */
type Question = {
  readonly query: string;
  readonly limit: number;
  readonly select: (state: FeedState) => FeedState;
};

const newestFirst = (state: FeedState) => state.toReversed();
const donations = (state: FeedState) => state.filter(({ type }) => type === "donation");
const follows = (state: FeedState) => state.filter(({ type }) => type === "follow");
const QUESTIONS: readonly Question[] = [
  { query: "", limit: 50, select: newestFirst },
  { query: "?limit=5", limit: 5, select: newestFirst },
  { query: "?order=asc&limit=100", limit: 100, select: (state) => state },
  { query: "?type=donation&limit=10", limit: 10, select: (all) => newestFirst(donations(all)) },
  { query: "?platform=live_platform_1&order=asc", limit: 50, select: follows },
];
const POLL = "?order=asc&limit=7";

function pollOf({ poll }: ReadFeed): Question {
  if (poll === undefined) return { query: POLL, limit: 7, select: (state) => state };
  return {
    query: `${POLL}&cursor=${poll.cursor}`,
    limit: 7,
    select: (state) => state.filter((activity) => placeOf(activity) > poll.place),
  };
}

it(
  "§1, §4.2: while records join, change, hide and go, through two gateways and two cores, each answer is a state that its feed had during the request",
  async () => {
    const feeds = await Promise.all(Array.from({ length: ACCOUNTS }, createFeed));
    let [reads, stalled] = [0, 0];
    const wrong: string[] = [];
    const idle = new Set(feeds);
    const write = async () => {
      while (reads < READS) {
        const feed = pickOne([...idle]);
        idle.delete(feed);
        await feed.change();
        idle.add(feed);
      }
    };
    const read = async () => {
      while (reads < READS) {
        const feed = pickOne(feeds);
        const question = Math.random() < 0.5 ? pollOf(feed) : pickOne(QUESTIONS);
        const earliest = Math.max(feed.seen, feed.answered());
        const answer = await requestOf(pickOne(ports), `/api/v1/activity${question.query}`, {
          apiKey: pickOne(feed.apiKeys),
          headers: { "x-forwarded-for": `10.0.${Math.floor(Math.random() * 256)}.${reads % 256}` },
        });
        if (answer.status === 429) continue;
        // While the machine stalls for longer than the core's deadline, each reader may get one 503.
        if (answer.status === 503 && ++stalled <= READERS) continue;
        const latest = feed.begun();
        if (latest >= feed.states.length) await feed.settled();
        reads += 1;
        const state = stateOf(answer, question, feed, earliest, latest);
        if (state === undefined) wrong.push(`${question.query}: ${answer.status} ${answer.text}`);
        else feed.seen = Math.max(feed.seen, state);
      }
    };
    const resetLimits = async () => {
      while (reads < READS) {
        await emptyWindows(stack);
        await wait(EMPTY_WINDOWS_EVERY_MS);
      }
    };
    await Promise.all([
      resetLimits(),
      ...Array.from({ length: WRITERS }, write),
      ...Array.from({ length: READERS }, read),
    ]);

    expect(wrong).toEqual([]);
    const changes = feeds.reduce((sum, feed) => sum + feed.begun(), 0);
    expect(changes).toBeGreaterThan(ACCOUNTS);
    // The core gave both kinds of answer many times.
    expect(answers.same).toBeGreaterThan(READS / 50);
    expect(answers.pages).toBeGreaterThan(READS / 50);
    console.info(`${reads} reads beside ${changes} changes; of the separate gateway:`, answers);
  },
  TIMEOUT_MS,
);

async function createFeed(): Promise<ReadFeed> {
  const accountId = await createAccount(stack);
  const keys = [await createApiKey(stack, accountId), await createApiKey(stack, accountId)];
  return {
    ...createChangingFeed(accountId, call),
    apiKeys: keys.map(({ text }) => text),
    seen: 0,
    poll: undefined,
  };
}

/** Finds the first state between `earliest` and `latest` that gives exactly this answer. */
function stateOf(
  answer: HttpAnswer,
  { limit, select, query }: Question,
  feed: ReadFeed,
  earliest: number,
  latest: number,
): number | undefined {
  for (let number = earliest; number <= latest; number++) {
    const selected = select(feed.states[number] ?? []);
    const data = selected.slice(0, limit);
    const text = `{"data":${JSON.stringify(data)},"pagination":{"has_more":${selected.length > limit},"next_cursor":`;
    if (answer.status !== 200 || !answer.text.startsWith(text)) continue;
    const last = data.at(-1);
    if (query.startsWith(POLL) && last !== undefined) {
      const { pagination } = answer.json<PageJson>();
      feed.poll = { cursor: pagination.next_cursor ?? "", place: placeOf(last) };
    }
    return number;
  }
  return undefined;
}
