import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { file } from "../../feed/src/index.ts";
import { bodyOf, headerOf } from "../delivery/harness-deliveries.ts";
import { createAccount, createApiKey, createEndpoint, createReader } from "../harness/builders.ts";
import type { PageJson } from "../harness/json.ts";
import { EVENTS_OF, Kind, REFUND_CENTS } from "../harness/records.ts";
import { createRandom } from "../simulation/random.ts";
import { type Account, type ApiKey, createClients, kindOf } from "./harness-clients.ts";
import { createFaults } from "./harness-faults.ts";
import { findFaults, type Operation } from "./harness-go.ts";
import type { Product } from "./harness-product.ts";
import { type Flatness, startSoak } from "./harness-soak.ts";

/** The rules that no fault may break. */
const Rule = {
  Answers: "no client gets a wrong answer",
  Linearizable: "feeds are linearizable",
  Kept: "what is acknowledged is kept, and what is removed stays away",
  Followed: "a follower is given each record of the feed once, in order",
  OneEvent: "a record has one event",
  Delivered: "each event arrives",
  Expected: "no failure is a surprise to a core",
  Limited: "no account is admitted more often than its limit",
} as const;
type Rule = (typeof Rule)[keyof typeof Rule];

type StoryOptions = {
  readonly minutes: number;
  readonly seed: number;
  /** Whether to sample what processes use. */
  readonly isSoak: boolean;
};

/** A record as its feed shows it: its id without its prefix, and the cents that were refunded. */
type Shown = { readonly id: string; readonly refunded: number };

const MINUTE = 60_000;
/** The time for events to arrive after all faults. It includes a retry, for attempts of a stopped dispatcher. */
const DELIVERED_MS = 5 * MINUTE;
const ACCOUNTS = 4;
const WRITERS = 2;
/** The number of keys that are revoked one after the other. An account has at most ten. */
const KEYS = 10;
/** An account's limit in any sixty seconds. §8 */
const [LIMIT, WINDOW_MICROS] = [120, 60_000_000];
const LOOK_EVERY_MS = 1_000;
/** The most violations of a rule that are printed. */
const SHOWN = 5;

/**
 * Runs clients that write, read and follow amid faults. Returns the violations of rules, the history and the faults.
 * `folder` has the checker, and gets the followers' checkpoints.
 */
export async function tellStory(product: Product, folder: string, options: StoryOptions) {
  const { stack, ports, credential, receiver, instances } = product;
  const { seed, minutes, isSoak } = options;
  const accounts: Account[] = [];
  for (let made = 0; made < ACCOUNTS; made += 1) {
    const account = await createReader(stack);
    await createEndpoint(stack, account.accountId, `https://127.0.0.1:${receiver.port}/hook`);
    accounts.push(account);
  }
  const hammered = await createReader(stack);
  const quiet = await createAccount(stack);
  const keys: ApiKey[] = [];
  while (keys.length < KEYS) keys.push(await createApiKey(stack, quiet));
  const clients = createClients(ports, credential, createRandom(seed + 1).next);
  let isOver = false;
  const running = accounts.flatMap((account) => [
    ...Array.from({ length: WRITERS }, () => clients.write(account)),
    clients.read(account),
  ]);
  const checkpointOf = ({ accountId }: Account) => file(join(folder, accountId));
  const followers = accounts.map((account, place) =>
    place % 2 === 0
      ? clients.poll(account, () => isOver)
      : clients.follow(account, checkpointOf(account), () => isOver),
  );
  const revoking = clients.revokeAll(quiet, keys);
  const hammer = clients.hammer(hammered);
  const faultyMs = minutes * MINUTE;
  const wholeMs = faultyMs * (isSoak ? 0.25 : 0.5);
  const faults = createFaults(product, seed);
  faults.start();
  await wait(wholeMs);
  await faults.cutForGood();
  // Sampling begins once no process is killed any more, because a restarted process fills its pools again.
  if (isSoak) await faults.spareLives();
  const soak = isSoak ? startSoak(product) : undefined;
  await wait(faultyMs - wholeMs);
  const uses: readonly Flatness[] = (await soak?.stop()) ?? [];
  await faults.stop();
  clients.stop();
  await Promise.all(running);
  isOver = true;
  await revoking;

  const { history, wrong } = clients;
  const mistakes = wrong.map((answer) => `${Rule.Answers}: ${answer}`);
  const broken = (rule: Rule, what: readonly string[]) => {
    if (what.length > 0) mistakes.push(`${rule}: ${what.slice(0, SHOWN).join(" ")}`);
  };
  broken(Rule.Linearizable, await findFaults(folder, history));
  const due: string[] = [];
  for (const [place, account] of accounts.entries()) {
    const records = await wholeFeed(product, account);
    const feed = [...records.keys()];
    due.push(...[...records].flatMap(eventsAbout));
    const there = new Set(feed);
    const own = history.filter((one) => one.account === account.accountId);
    const removed = new Set(recordsOf(own.filter(isAcknowledged), "remove"));
    // A removal without an answer may have succeeded.
    const mayBeRemoved = new Set(recordsOf(own, "remove"));
    const added = recordsOf(own.filter(isAcknowledged), "add");
    const kept = added.filter((record) => !mayBeRemoved.has(record));
    broken(Rule.Kept, [
      ...kept.filter((record) => !there.has(record)),
      ...feed.filter((record) => removed.has(record)),
      ...kept.filter((record) => (records.get(record)?.refunded ?? 0) !== refundedOf(record)),
    ]);
    const given = (await followers[place]) ?? [];
    if (new Set(given).size < given.length) broken(Rule.Followed, ["one is given twice"]);
    const followed = given.filter((record) => there.has(record));
    broken(
      Rule.Followed,
      feed.filter((record, at) => followed[at] !== record),
    );
  }
  const untilMs = performance.now() + DELIVERED_MS;
  let missing = undelivered(product, due);
  while (missing.length > 0 && performance.now() < untilMs) {
    await wait(LOOK_EVERY_MS);
    missing = undelivered(product, due);
  }
  broken(Rule.Delivered, await Promise.all(missing.map((name) => describe(product, name))));
  broken(
    Rule.OneEvent,
    [...eventsOf(product)].filter(([, ids]) => ids.size > 1).map(([of]) => of),
  );
  const cores = instances.filter(({ name }) => name.startsWith("core"));
  const said = cores.flatMap((core) => core.output().split("\n"));
  broken(
    Rule.Expected,
    said.filter((line) => line.includes('"call failed"')),
  );
  const admitted = await hammer;
  const most = mostInAWindow(admitted);
  broken(Rule.Limited, most > LIMIT ? [`${most} of ${admitted.length}`] : []);
  return { mistakes, history, faults: faults.told, uses };
}

const isAcknowledged = (one: Operation) => one.return !== undefined;

const recordsOf = (operations: readonly Operation[], kind: Operation["kind"]) =>
  operations.flatMap((one) => (one.kind === kind ? [one.record ?? ""] : []));

/** Returns all records of a feed by their names, in order. Reads them through the tests' own gateway. */
async function wholeFeed({ stack }: Product, { apiKey }: Account) {
  const records = new Map<string, Shown>();
  for (let cursor: string | null = ""; ; ) {
    const path: string = `/api/v1/activity?order=asc&limit=100${cursor && `&cursor=${cursor}`}`;
    const answer = await stack.http(path, { apiKey });
    if (answer.status === 429) {
      await wait(LOOK_EVERY_MS);
      continue;
    }
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    const { data, pagination } = answer.json<PageJson>();
    for (const { id, actor, refunded_amount_cents: cents } of data) {
      records.set(actor.name ?? "", { id: id.replace(/^\w{3}_/, ""), refunded: cents ?? 0 });
    }
    if (!pagination.has_more) return records;
    cursor = pagination.next_cursor;
  }
}

const refundedOf = (record: string) => (kindOf(record) === Kind.Refunded ? REFUND_CENTS : 0);

/**
 * The events of a record, each as a kind and the record's id. A record that is not refunded has no refund event: its
 * writer may have given up before.
 */
const eventsAbout = ([record, { id, refunded }]: readonly [string, Shown]) =>
  EVENTS_OF[kindOf(record)]
    .filter((event) => event !== "donation.refunded" || refunded > 0)
    .map((event) => `${event} ${id}`);

/** The ids under which the receiver got each event. */
function eventsOf({ receiver }: Product): Map<string, Set<string>> {
  const events = new Map<string, Set<string>>();
  for (const request of receiver.requests) {
    const { type, data } = bodyOf(request);
    const name = `${type} ${data.id}`;
    const ids = events.get(name) ?? new Set();
    events.set(name, ids.add(headerOf(request, "Service-Event-Id")));
  }
  return events;
}

/** The events that have not reached the receiver. */
function undelivered(product: Product, due: readonly string[]): string[] {
  const told = eventsOf(product);
  return due.filter((name) => !told.has(name));
}

/** Adds to an event's name what the database knows of its delivery. */
async function describe({ stack }: Product, name: string): Promise<string> {
  const [kind, id] = name.split(" ");
  const rows = await stack.database.query(
    `SELECT d.*, o.task, o.leased_until FROM webhook_event w
     JOIN delivery d ON d.account_no = w.account_no AND d.event_id = w.id
     LEFT JOIN outbox_entry o ON o.account_no = d.account_no AND o.delivery_id = d.id
     WHERE w.payload LIKE '%"${kind}"%' AND w.payload LIKE '%${id}%'`,
  );
  return `${name}: ${JSON.stringify(rows)}`;
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
