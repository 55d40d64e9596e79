import { AttemptOutcome } from "@activity/proto";
import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import { LEASE_MICROS, Task } from "../../server/src/dispatch/outbox-store.ts";
import type { AfterAttempt, NewAttempt } from "../../server/src/dispatch/record-store.ts";
import { createLocks } from "./memory-locks.ts";

export type AccountRow = {
  readonly accountNo: number;
  readonly id: string;
  blockedAt: number | null;
  feedChangedAt: number;
};
export type EndpointRow = {
  readonly accountNo: number;
  readonly id: string;
  url: string;
  secret: Buffer;
  standardWebhooks: boolean;
  switchedOn: boolean;
  deletedAt: number | null;
};
export type EventRow = {
  readonly accountNo: number;
  readonly id: string;
  readonly recordId: string | null;
  payload: Buffer | null;
};
export type DeliveryRow = {
  readonly accountNo: number;
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly createdAt: number;
  state: DeliveryState;
  run: number;
  attempts: number;
  lastOutcome: number | null;
  nextAttemptAt: number | null;
};
export type EntryRow = {
  readonly accountNo: number;
  readonly deliveryId: string;
  readonly endpointId: string;
  run: number;
  task: Task;
  leaseId: string | null;
  leasedUntil: number | null;
};

/** Who watches what is written, before it is. */
export type TableWatcher = {
  /** `before` is `undefined` for a delivery that is new. */
  onState?(row: DeliveryRow, before: DeliveryState | undefined, next: DeliveryState): void;
  onAttempt?(attempt: NewAttempt): void;
  /** An attempt that was stored changes its delivery. */
  onOutcome?(row: DeliveryRow, after: AfterAttempt): void;
  /** An entry leaves the outbox, after all else that its transaction changes. */
  onDelete?(entry: EntryRow): void;
  /** An attempt's content is loaded, under a lease if it is a first one. */
  onLoad?(payload: Buffer, endpoint: EndpointRow, leasedUntil: number | null): void;
};

/** The tables that dispatch reads and writes, by primary key: ids are unique. */
export type Tables = ReturnType<typeof createTables>;

/** How much later than any lease can end its end must be for the clock to have stepped back. */
const CLOCK_STEP_MICROS = 60_000_000;

/** Creates tables without rows, on the database's clock. */
export function createTables(nowMicros: () => number, watcher: TableWatcher = {}) {
  const accounts = new Map<number, AccountRow>();
  const endpoints = new Map<string, EndpointRow>();
  const events = new Map<string, EventRow>();
  const deliveries = new Map<string, DeliveryRow>();
  const attempts = new Map<string, NewAttempt>();
  const entries = new Map<string, EntryRow>();

  return {
    ...{ accounts, endpoints, events, deliveries, attempts, entries, nowMicros, watcher },
    locks: createLocks(),
    /** Deliveries whose attempts cannot be stored: a statement with one fails, and is no outage. */
    refused: new Set<string>(),

    insertDelivery(row: DeliveryRow): void {
      watcher.onState?.(row, undefined, row.state);
      deliveries.set(row.id, row);
    },

    setState(row: DeliveryRow, state: DeliveryState): void {
      watcher.onState?.(row, row.state, state);
      row.state = state;
    },

    /** One that is stored stays as it is. */
    insertAttempt(attempt: NewAttempt): void {
      const { deliveryId, run, attempt: number } = attempt;
      const key = `${deliveryId} ${run} ${number}`;
      const known = attempts.get(key);
      const { DELIVERED } = AttemptOutcome;
      const isBetter = attempt.outcome === DELIVERED && known?.outcome !== DELIVERED;
      if (known !== undefined && !isBetter) return;
      watcher.onAttempt?.(attempt);
      attempts.set(key, attempt);
    },

    /** One that is there belongs to an earlier run, or is the same. */
    putEntry(entry: EntryRow): void {
      const known = entries.get(entry.deliveryId);
      const { run, task, leaseId, leasedUntil } = entry;
      if (known === undefined) entries.set(entry.deliveryId, { ...entry });
      else Object.assign(known, { run, task, leaseId, leasedUntil });
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

    /** Keeps what the tables hold, and returns how they come back to it, as deploy/restored.sql leaves them. */
    backUp(): () => void {
      const restores = [
        ...[keep(accounts), keep(endpoints), keep(events)],
        ...[keep(deliveries), keep(attempts), keep(entries)],
      ];
      return () => {
        for (const restore of restores) restore();
        for (const account of accounts.values()) {
          account.feedChangedAt = Math.max(account.feedChangedAt + 1, nowMicros());
        }
        for (const row of deliveries.values()) {
          if (row.state === DeliveryState.Pending) {
            this.setState(row, DeliveryState.Retrying);
            row.nextAttemptAt = nowMicros();
          }
          if (row.state !== DeliveryState.Retrying) continue;
          const { accountNo, id: deliveryId, endpointId, run } = row;
          const asking = { task: Task.BeginRetries, leaseId: null, leasedUntil: null };
          this.putEntry({ accountNo, deliveryId, endpointId, run, ...asking });
        }
      };
    },

    /** Whether a lease that ends then holds, unless the clock stepped back behind it. */
    isLeased(leasedUntil: number | null): boolean {
      if (leasedUntil === null) return false;
      const last = nowMicros() + LEASE_MICROS + CLOCK_STEP_MICROS;
      return leasedUntil > nowMicros() && leasedUntil <= last;
    },
  };
}

/** Keeps the rows of a table as they are, and returns how it gets them back. */
function keep<Key, Row extends object>(table: Map<Key, Row>): () => void {
  const rows = [...table].map(([key, row]) => [key, { ...row }] as const);
  return () => {
    table.clear();
    for (const [key, row] of rows) table.set(key, row);
  };
}

/** Whether the run of a delivery goes on. */
export function isRunning(row: DeliveryRow | undefined, run: number): boolean {
  const states: readonly DeliveryState[] = [DeliveryState.Pending, DeliveryState.Retrying];
  return row !== undefined && row.run === run && states.includes(row.state);
}
