import { type Sharer, together } from "@activity/runtime/traces";
import { createIdsAt } from "../common/ids.ts";
import { type Change, statementsOf } from "../database/change.ts";
import { type Asks, planLookups } from "../database/lookup.ts";
import type { PacketRows, Packets, Stored } from "../database/packet.ts";
import { createLeases, type Leases, type Outbox } from "../dispatch/outbox.ts";
import { newOutboxEntry, Task } from "../dispatch/outbox-store.ts";
import type { FeedVersion } from "../feed-change/feed-changes.ts";
import type { NewWebhookEvent } from "../webhook-event/new-webhook-event.ts";
import { storeWebhookEvent } from "../webhook-event/webhook-event-store.ts";
import type { LockedAccount } from "./locked-account.ts";
import {
  type AccountRow,
  lockAccounts,
  nowFromRows,
  READ_NOW,
  storeFeedClocks,
} from "./locked-account-store.ts";
import type { Decision } from "./write.ts";

/** A write whose account id is well formed, with its lookups. */
export type PlannedWrite = {
  readonly accountId: string;
  readonly accountNo: number;
  readonly asks: Asks;
  /** The sampled span of its call, if any. The attempts of its events are part of that trace. */
  readonly span: Sharer | undefined;
  readonly decide: (
    found: Readonly<Record<string, readonly unknown[]>>,
    account: LockedAccount,
  ) => Decision<unknown>;
};

/**
 * The result of a write; `no_account` if its account is unknown or deleted, or if it is locked and the write does not
 * wait.
 */
export type Outcome =
  | { readonly kind: "written"; readonly answer: unknown }
  | { readonly kind: "refused"; readonly error: unknown }
  | { readonly kind: "no_account" };

/** The results of a transaction's writes, whether it wrote first attempts, and the feeds that it changed. */
export type Committed = {
  readonly outcomes: readonly Outcome[];
  readonly hasAttempts: boolean;
  readonly feeds: readonly FeedVersion[];
};
type Decided = Pick<Committed, "outcomes" | "feeds">;

const NO_ACCOUNT: Outcome = { kind: "no_account" };

/**
 * Runs writes in one transaction of two packets, in order. A refused write changes nothing and does not affect the
 * others. If the transaction fails, no write was stored, or all were and their answers are lost. With `waits`, the
 * transaction waits for locked accounts. Without, it leaves out their writes.
 */
export async function commitWrites(
  packets: Pick<Packets, "loadAndStore">,
  outbox: Outbox,
  writes: readonly PlannedWrite[],
  waits: boolean,
): Promise<Committed> {
  const accountNos = [...new Set(writes.map(({ accountNo }) => accountNo))];
  const lookups = planLookups(writes.map(({ asks }) => asks));
  const load = [lockAccounts(accountNos, waits), READ_NOW, ...lookups.statements];
  const leases = createLeases(outbox);
  try {
    const spans = writes.map(({ span }) => span);
    const decided = await together("commit", spans, () =>
      packets.loadAndStore(load, ([accounts = [], now, ...rows]) => {
        leases.begin();
        const answersOf = lookups.read(rows);
        return decideAll(writes, createAccounts(accounts, now), answersOf, leases);
      }),
    );
    return { ...decided, ...leases.committed() };
  } catch (error) {
    leases.failed();
    throw error;
  }
}

type Accounts = ReturnType<typeof createAccounts>;

function decideAll(
  writes: readonly PlannedWrite[],
  accounts: Accounts,
  answersOf: ReturnType<ReturnType<typeof planLookups>["read"]>,
  leases: Leases,
): Stored<Decided> {
  const changes: Change[] = [];
  const outcomes = writes.map((write): Outcome => {
    const account = accounts.find(write);
    if (account === undefined) return NO_ACCOUNT;
    try {
      const decision = write.decide(answersOf(write.asks), account);
      changes.push(...(decision.changes ?? []));
      if (decision.feed !== undefined) {
        changes.push(...decision.feed.map(({ feedChange }) => feedChange));
      }
      // An event moves the clock too, because it must be later than all earlier ones, even if the feed shows nothing of
      // the change.
      if (decision.feed !== undefined || decision.events?.some(({ test }) => !test)) {
        accounts.moveFeedClock(account);
      }
      for (const event of decision.events ?? []) {
        changes.push(...storeEvent(account, event, write.span?.traceparent, leases));
      }
      return { kind: "written", answer: decision.answer };
    } catch (error) {
      return { kind: "refused", error };
    }
  });
  const moved = accounts.movedFeedClocks();
  const clocks = moved.length > 0 ? [storeFeedClocks(moved)] : [];
  const feeds = accounts.changedFeeds();
  return { statements: [...clocks, ...statementsOf(changes)], result: { outcomes, feeds } };
}

/** Holds the locked accounts, and the time that the next write of each gets. */
function createAccounts(rows: PacketRows[number], now: PacketRows[number] | undefined) {
  const nowMicros = nowFromRows(now);
  const newId = createIdsAt(nowMicros);
  const locked = new Map((rows as AccountRow[]).map((row) => [row.account_no, row]));
  const feedClocks = new Map<number, number>();

  return {
    find({ accountNo, accountId }: PlannedWrite): LockedAccount | undefined {
      const row = locked.get(accountNo);
      // Compares the whole id, because an unknown one may begin with the number of an existing account.
      if (row?.id !== accountId) return undefined;
      const feedClock = feedClocks.get(accountNo) ?? row.feed_changed_at;
      const recordedAt = Math.max(feedClock + 1, nowMicros);
      const blocked = row.blocked_at !== null;
      return {
        ...{ accountNo, id: accountId, blocked, nowMicros, recordedAt },
        // Lists of deliveries sort and filter by the time in the id, so it must be the time of the event.
        newId: () => newId(recordedAt),
      };
    },
    moveFeedClock({ accountNo, recordedAt }: LockedAccount): void {
      feedClocks.set(accountNo, recordedAt);
    },
    movedFeedClocks: () => [...feedClocks],
    changedFeeds: (): FeedVersion[] =>
      [...feedClocks].flatMap(([accountNo, version]) => {
        const accountId = locked.get(accountNo)?.id;
        return accountId === undefined ? [] : [{ accountId, version }];
      }),
  };
}

function storeEvent(
  { accountNo, nowMicros }: LockedAccount,
  event: NewWebhookEvent,
  traceparent: string | undefined,
  leases: Leases,
): Change[] {
  const { id: eventId, payload, deliveries } = event;
  const entries = deliveries.flatMap(({ id: deliveryId, endpoint, isPaused }) => {
    if (isPaused) return [];
    const run = { accountNo, deliveryId, run: 1 };
    const { id: endpointId, url, secret, standardWebhooks } = endpoint;
    const content = { endpointId, url, secret, standardWebhooks, eventId, payload, traceparent };
    const leaseId = leases.lease({ ...run, ...content });
    const entry = { ...run, endpointId, task: Task.Attempt, leaseId };
    return [newOutboxEntry(entry, nowMicros)];
  });
  return [...storeWebhookEvent(accountNo, event, traceparent), ...entries];
}
