import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createEndpoint, createReader } from "../harness/builders.ts";
import type { PageJson } from "../harness/json.ts";
import { useFolder } from "../harness/use-started.ts";
import { type Account, createClients } from "./harness-clients.ts";
import { buildPrograms, findFaults, type Operation } from "./harness-go.ts";
import { type Product, startFaults, startProduct } from "./harness-product.ts";

const MINUTE = 60_000;
const MINUTES = Number(process.env.MINUTES ?? 10);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const ACCOUNTS = 4;
const WRITERS = 2;
/** What an account may ask in any sixty seconds. §8 */
const [LIMIT, WINDOW_MICROS] = [120, 60_000_000];
/** Retries of what was sent while a dispatcher was stopped wait for their schedule. */
const DELIVERED = { timeout: 5 * MINUTE, interval: 1_000 };

/** Mulberry32: the same faults from the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const folder = useFolder("histories");
let product: Product;
beforeAll(async () => {
  await buildPrograms(folder);
  product = await startProduct(folder);
}, 10 * MINUTE);
afterAll(() => product?.stop());

it(
  `${MINUTES} minutes of faults from seed ${SEED}, one for good: feeds are linearizable, and nothing acknowledged is lost`,
  async () => {
    const { stack, ports, credential, receiver } = product;
    const accounts: Account[] = [];
    for (let made = 0; made < ACCOUNTS; made += 1) {
      const account = await createReader(stack);
      await createEndpoint(stack, account.accountId, `https://127.0.0.1:${receiver.port}/hook`);
      accounts.push(account);
    }
    const hammered = await createReader(stack);
    const clients = createClients(ports, credential, seeded(SEED + 1));
    let isOver = false;
    const running = accounts.flatMap((account) => [
      ...Array.from({ length: WRITERS }, () => clients.write(account)),
      clients.read(account),
    ]);
    const followers = accounts.map((account) => clients.follow(account, () => isOver));
    const hammer = clients.hammer(hammered);
    const faults = startFaults(product, seeded(SEED));
    const trace = () => `seed ${SEED}:\n${faults.told.join("\n")}`;

    await wait((MINUTES * MINUTE) / 2);
    await faults.cutForGood();
    await wait((MINUTES * MINUTE) / 2);
    await faults.stop();
    clients.stop();
    await Promise.all(running);
    isOver = true;
    const given = await Promise.all(followers);

    expect(clients.wrong, trace()).toEqual([]);
    const unheld = await findFaults(folder, clients.history);
    expect(unheld, `not linearizable, ${trace()}`).toEqual([]);

    expect(await findFaults(folder, forged(clients.history))).toHaveLength(1);

    const acknowledged = clients.history.filter((one) => one.return !== undefined);
    for (const [place, account] of accounts.entries()) {
      const feed = await wholeFeed(account);
      const of = (kind: string) =>
        acknowledged
          .filter((one) => one.account === account.accountId && one.kind === kind)
          .map(({ record = "" }) => record);
      const removed = new Set(of("remove"));
      const kept = of("add").filter((record) => !removed.has(record));
      expect(feed, `an acknowledged write is lost, ${trace()}`).toEqual(
        expect.arrayContaining(kept),
      );
      expect(
        feed.filter((record) => removed.has(record)),
        trace(),
      ).toEqual([]);
      const followed = given[place] ?? [];
      expect(new Set(followed).size, `given twice, ${trace()}`).toBe(followed.length);
      expect(
        followed.filter((record) => feed.includes(record)),
        `followed, ${trace()}`,
      ).toEqual(feed);
      await vi.waitFor(() => expect(undelivered(feed), trace()).toEqual([]), DELIVERED);
    }

    const admitted = await hammer;
    expect(mostInAWindow(admitted), trace()).toBeLessThanOrEqual(LIMIT);
    process.stdout.write(
      `seed ${SEED}: ${clients.history.length} operations, ${faults.told.length} faults, ${admitted.length} admitted\n`,
    );
  },
  (MINUTES + 20) * MINUTE,
);

/** A history in which the last page forgets its oldest record: the checker must see it. */
function forged(history: readonly Operation[]): Operation[] {
  const last = history.findLast(({ page = [] }) => page.length > 1);
  return history.map((one) =>
    one === last ? { ...one, page: one.page?.slice(0, -1) ?? [] } : one,
  );
}

/** All records of a feed, in order, through another gateway. */
async function wholeFeed({ apiKey }: Account): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = ""; ; ) {
    const path: string = `/api/v1/activity?order=asc&limit=100${cursor && `&cursor=${cursor}`}`;
    const answer = await product.stack.http(path, { apiKey });
    expect(answer.status).toBe(200);
    const { data, pagination } = answer.json<PageJson>();
    names.push(...data.map(({ actor }) => actor.name ?? ""));
    if (!pagination.has_more) return names;
    cursor = pagination.next_cursor;
  }
}

/** The records of a feed of which no event has reached the receiver. */
function undelivered(feed: readonly string[]): string[] {
  const bodies = product.receiver.requests.map(({ body }) => body.toString());
  const told = new Set(bodies.flatMap((body) => /"(r\d+)"/.exec(body)?.[1] ?? []));
  return feed.filter((record) => !told.has(record));
}

/** The most requests that began and ended within any window. */
function mostInAWindow(requests: readonly (readonly [number, number])[]): number {
  return Math.max(
    0,
    ...requests.map(
      ([began]) =>
        requests.filter(([other, ended]) => other >= began && ended <= began + WINDOW_MICROS)
          .length,
    ),
  );
}
