import { AttemptOutcome } from "@activity/proto";
import { DeliveryState, RUNNING_STATES } from "../../server/src/dispatch/delivery-state.ts";
import { LEASE_MICROS, Task } from "../../server/src/dispatch/outbox-store.ts";
import type { AfterAttempt, NewAttempt } from "../../server/src/dispatch/record-store.ts";
import type { DeliveryKey, RunKey } from "../../server/src/dispatch/run-key.ts";
import { keyOf } from "./attempts.ts";
import { createLocks } from "./memory-locks.ts";

type AccountRow = {
  readonly accountNo: number;
  readonly id: string;
  blockedAt: number | null;
  feedChangedAt: number;
};
type EndpointRow = {
  readonly accountNo: number;
  readonly id: string;
  url: string;
  secret: Buffer;
  switchedOn: boolean;
  deletedAt: number | null;
};
type EventRow = { readonly recordId: string | null; payload: Buffer | null };
export type DeliveryRow = DeliveryKey & {
  readonly endpointId: string;
  readonly eventId: string;
  readonly createdAt: number;
  state: DeliveryState;
  run: number;
  attempts: number;
  lastOutcome: number | null;
  nextAttemptAt: number | null;
};
export type EntryRow = DeliveryKey & {
  readonly endpointId: string;
  run: number;
  task: Task;
  leaseId: string | null;
  leasedUntil: number | null;
};

/** Listeners that are called before each change. */
export type TableWatcher = {
  /** `before` is `undefined` for a new delivery. */
  onState?(row: DeliveryRow, before: DeliveryState | undefined, next: DeliveryState): void;
  onAttempt?(attempt: NewAttempt): void;
  /** A stored attempt changes its delivery. */
  onOutcome?(row: DeliveryRow, after: AfterAttempt): void;
  /** A transaction deletes an entry. Its other changes are already made. */
  onDelete?(entry: EntryRow): void;
  /** A load finds that the endpoint is off or deleted, or the account blocked. */
  onNotSendable?(row: DeliveryRow): void;
  /** An attempt's content is loaded, under a lease if it is a first attempt. */
  onLoad?(payload: Buffer, endpoint: EndpointRow, leasedUntil: number | null): void;
};

/** The tables that dispatch reads and writes. Ids are unique, so they are the keys. */
export type Tables = ReturnType<typeof createTables>;

/** A lease that ends this much later than a new one must date from before the clock stepped back. */
const CLOCK_STEP_MICROS = 60_000_000;

/** Creates empty tables. `nowMicros` is the database's clock. */
export function createTables(nowMicros: () => number, watcher: TableWatcher = {}) {
  const accounts = new Map<number, AccountRow>();
  const endpoints = new Map<string, EndpointRow>();
  const events = new Map<string, EventRow>();
  const deliveries = new Map<string, DeliveryRow>();
  /** Attempts by `keyOf`. */
  const attempts = new Map<string, NewAttempt>();
  const entries = new Map<string, EntryRow>();

  return {
    ...{ accounts, endpoints, events, deliveries, attempts, entries, nowMicros, watcher },
    locks: createLocks(),
    /** Deliveries whose attempts cannot be stored. A statement with one of them fails, without an outage. */
    refused: new Set<string>(),

    insertDelivery(row: DeliveryRow): void {
      watcher.onState?.(row, undefined, row.state);
      deliveries.set(row.deliveryId, row);
    },

    setState(row: DeliveryRow, state: DeliveryState): void {
      watcher.onState?.(row, row.state, state);
      row.state = state;
    },

    /** Stores an attempt. A stored one stays, unless it failed and the new one was delivered. */
    insertAttempt(attempt: NewAttempt): void {
      const key = keyOf(attempt);
      const known = attempts.get(key);
      const { DELIVERED } = AttemptOutcome;
      const isBetter = attempt.outcome === DELIVERED && known?.outcome !== DELIVERED;
      if (known !== undefined && !isBetter) return;
      watcher.onAttempt?.(attempt);
      attempts.set(key, attempt);
    },

    /** Stores the entry of a run. It replaces that of an earlier run. */
    putEntry(
      { accountNo, deliveryId, endpointId, run }: RunKey & Pick<EntryRow, "endpointId">,
      task: Task,
      leaseId: string | null = null,
      leasedUntil: number | null = null,
    ): void {
      const entry = { accountNo, deliveryId, endpointId, run, task, leaseId, leasedUntil };
      entries.set(deliveryId, Object.assign(entries.get(deliveryId) ?? entry, entry));
    },

    deleteEntry(deliveryId: string): void {
      const entry = entries.get(deliveryId);
      if (entry === undefined) return;
      watcher.onDelete?.(entry);
      entries.delete(deliveryId);
    },

    lease(entry: EntryRow, leaseId: string): void {
      entry.leaseId = leaseId;
      entry.leasedUntil = nowMicros() + LEASE_MICROS;
    },

    /** Copies all rows. Returns a function that restores them, and then does what deploy/restored.sql does. */
    backUp(): () => void {
      const restores = [
        ...[keep(accounts), keep(endpoints), keep(events)],
        ...[keep(deliveries), keep(attempts), keep(entries)],
      ];
      return () => {
        for (const restore of restores) restore();
        for (const account of accounts.values()) {
          account.feedChangedAt = Math.max(account.feedChangedAt + 1_000_000, nowMicros());
        }
        for (const row of deliveries.values()) {
          if (row.state === DeliveryState.Pending) {
            this.setState(row, DeliveryState.Retrying);
            row.nextAttemptAt = nowMicros();
          }
          if (row.state === DeliveryState.Retrying) this.putEntry(row, Task.BeginRetries);
        }
      };
    },

    /** Whether a lease is still valid. A lease from before the clock stepped back is not. */
    isLeased(leasedUntil: number | null): boolean {
      if (leasedUntil === null) return false;
      const last = nowMicros() + LEASE_MICROS + CLOCK_STEP_MICROS;
      return leasedUntil > nowMicros() && leasedUntil <= last;
    },
  };
}

/** Copies the rows of a table. Returns a function that restores them. */
function keep<Key, Row extends object>(table: Map<Key, Row>): () => void {
  const rows = [...table].map(([key, row]) => [key, { ...row }] as const);
  return () => {
    table.clear();
    for (const [key, row] of rows) table.set(key, row);
  };
}

/** Whether this run of a delivery has not ended. */
export function isRunning(row: DeliveryRow | undefined, run: number): boolean {
  return row !== undefined && row.run === run && RUNNING_STATES.includes(row.state);
}
