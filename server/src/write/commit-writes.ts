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

/** A write whose account has the form of one, with what it asks for. */
export type PlannedWrite = {
  readonly accountId: string;
  readonly accountNo: number;
  readonly asks: Asks;
  /** The span that asks for it, if it is sampled: its events are told in that trace. */
  readonly span: Sharer | undefined;
  readonly decide: (
    found: Readonly<Record<string, readonly unknown[]>>,
    account: LockedAccount,
  ) => Decision<unknown>;
};

/** How a write ended; `no_account` when its account is unknown, deleted, or locked and not waited for. */
export type Outcome =
  | { readonly kind: "written"; readonly answer: unknown }
  | { readonly kind: "refused"; readonly error: unknown }
  | { readonly kind: "no_account" };

/** How each write of a transaction ended, whether it wrote first attempts, and which feeds it changed. */
export type Committed = {
  readonly outcomes: readonly Outcome[];
  readonly hasAttempts: boolean;
  readonly feeds: readonly FeedVersion[];
};
type Decided = Pick<Committed, "outcomes" | "feeds">;

const NO_ACCOUNT: Outcome = { kind: "no_account" };

/**
 * Runs writes in one transaction of two packets, in their order. One that is refused changes nothing and is in
 * no other's way; when the transaction fails, none of them was written, or all were and their answers lost.
 * Accounts that are locked are waited for, or their writes left.
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
      // An event too is later than all before, though a change may show nowhere in the feed.
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

/** The accounts that were locked, each with the clock that its next write is given. */
function createAccounts(rows: PacketRows[number], now: PacketRows[number] | undefined) {
  const nowMicros = nowFromRows(now);
  const newId = createIdsAt(nowMicros);
  const locked = new Map((rows as AccountRow[]).map((row) => [row.account_no, row]));
  const feedClocks = new Map<number, number>();

  return {
    find({ accountNo, accountId }: PlannedWrite): LockedAccount | undefined {
      const row = locked.get(accountNo);
      // Another account's id may begin with the same time.
      if (row?.id !== accountId) return undefined;
      const feedClock = feedClocks.get(accountNo) ?? row.feed_changed_at;
      const recordedAt = Math.max(feedClock + 1, nowMicros);
      const blocked = row.blocked_at !== null;
      return { accountNo, id: accountId, blocked, nowMicros, recordedAt, newId };
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

/** Stores an event, its deliveries, and an outbox entry for each that is not paused. */
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
