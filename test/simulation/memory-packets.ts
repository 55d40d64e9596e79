import type { PacketRows, Packets, Statement, Stored } from "../../server/src/database/packet.ts";
import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import type { Task } from "../../server/src/dispatch/outbox-store.ts";
import { isOver, type Link, type Session, type Transaction } from "./memory-locks.ts";
import type { Tables } from "./memory-tables.ts";

type Row = PacketRows[number][number];
type Values = readonly unknown[];

/**
 * Creates the connections of owners' writes on tables in memory. They recognize each of the product's statements on the
 * data of dispatch by its beginning. Any other statement fails.
 */
export function createMemoryPackets(
  tables: Tables,
  link: Link,
  session: Session,
): Pick<Packets, "loadAndStore"> {
  const { locks } = tables;
  return {
    async loadAndStore<Result>(
      load: readonly Statement[],
      decide: (rows: PacketRows) => Stored<Result>,
    ): Promise<Result> {
      const accountNos = load[0]?.values[0] as readonly number[];
      const isLocking = load[0]?.sql.includes("FOR UPDATE");
      const accounts = isLocking ? accountNos.map((accountNo) => `account ${accountNo}`) : [];
      const names = [...accounts, ...load.flatMap((statement) => deliveriesOf(tables, statement))];
      const transaction: Transaction = { session, isOver: false };
      const write = <Answer>(name: string, rows: readonly string[], work: () => Answer) =>
        locks.whenFree(link, name, rows, () => {
          if (isOver(transaction)) throw new Error("the connection was closed");
          return work();
        });
      try {
        const rows = await write("load", names, () => {
          locks.takeFree(names, transaction);
          return load.map((statement) => rowsOf(tables, statement));
        });
        const { statements, result } = decide(rows);
        const touched = statements.flatMap((statement) => deliveriesOf(tables, statement));
        await write("store", touched, () => {
          for (const statement of statements) apply(tables, statement);
          locks.end(transaction);
        });
        return result;
      } finally {
        locks.end(transaction);
      }
    },
  };
}

/** The rows that a lookup reads, with all columns that any lookup names. */
export function rowsOf(tables: Tables, { sql, values }: Statement): readonly Row[] {
  if (sql.startsWith("SELECT TIMESTAMPDIFF")) return [{ now_micros: tables.nowMicros() } as Row];
  const [, table] = / FROM (\w+)/.exec(sql) ?? [];
  const lookups: Readonly<Record<string, () => object[]>> = {
    account: () =>
      [...tables.accounts.values()]
        .filter(({ accountNo }) => (values[0] as number[]).includes(accountNo))
        .map(({ accountNo, id, blockedAt, feedChangedAt }) => ({
          ...{ account_no: accountNo, id, blocked_at: blockedAt, feed_changed_at: feedChangedAt },
        })),
    endpoint: () =>
      [...tables.endpoints.values()]
        .filter(({ deletedAt }) => deletedAt === null)
        .map(({ accountNo, id, url, secret, switchedOn }) => ({
          ...{ account_no: accountNo, id, name: "", kinds: -1, url, secret, standard_webhooks: 0 },
          ...{ min_amount_cents: 0, switched_on: switchedOn ? 1 : 0 },
          ...{ created_at: 0, pending_from: null },
        })),
    delivery: () =>
      [...tables.deliveries.values()].map((row) => ({
        ...{ account_no: row.accountNo, id: row.deliveryId, endpoint_id: row.endpointId },
        ...{ event_id: row.eventId, kind: 1, test: 0, state: row.state, run: row.run },
        ...{ attempts: row.attempts, last_outcome: row.lastOutcome, created_at: row.createdAt },
        next_attempt_at: row.nextAttemptAt,
        is_erased: tables.events.get(row.eventId)?.payload === null ? 1 : 0,
      })),
  };
  const rows = lookups[table ?? ""]?.();
  if (rows === undefined) throw new UnknownStatement(`the simulation does not know ${sql}`);
  return rows as Row[];
}

/** Thrown for a statement of the product that has changed: the tables in memory must follow. */
export class UnknownStatement extends Error {
  override readonly name = "UnknownStatement";
}

const BEGIN_RUNS = "UPDATE delivery FORCE INDEX (PRIMARY) SET state = ?, run = run + 1";
const READ_DELIVERIES = "SELECT d.account_no, d.id, d.endpoint_id, d.event_id";

/** The deliveries that a statement locks. The statement waits while another transaction has locked one of them. */
function deliveriesOf(tables: Tables, { sql, values }: Statement): readonly string[] {
  if (sql.startsWith(READ_DELIVERIES)) return values[1] as string[];
  return sql.includes("SET d.state") ? deliveriesOfRecord(tables, values) : [];
}

function deliveriesOfRecord({ events, deliveries }: Tables, [, recordId]: Values): string[] {
  return [...deliveries.values()]
    .filter(({ eventId }) => events.get(eventId)?.recordId === recordId)
    .map(({ deliveryId }) => deliveryId);
}

function apply(tables: Tables, { sql, values }: Statement): void {
  const [, table] = /^INSERT INTO (\w+)\s*\(/.exec(sql) ?? [];
  if (table !== undefined) {
    for (const row of values[0] as Values[]) insertRow(tables, table, row);
    return;
  }
  const [, update] = Object.entries(UPDATES).find(([beginning]) => sql.startsWith(beginning)) ?? [];
  if (update === undefined) throw new UnknownStatement(`the simulation does not know ${sql}`);
  update(tables, values);
}

/** Inserts a row. Its values are in the order of the columns that the product's statements name. */
function insertRow(tables: Tables, table: string, row: Values): void {
  if (table === "webhook_event") {
    const [, id, recordId, payload] = row as [number, string, string | null, Buffer];
    tables.events.set(id, { recordId, payload });
  } else if (table === "delivery") {
    const [accountNo, deliveryId, endpointId, eventId, , , state, run, createdAt] = row as [
      ...[number, string, string, string, number, boolean],
      ...[DeliveryState, number, number],
    ];
    tables.insertDelivery({
      ...{ accountNo, deliveryId, endpointId, eventId, state, run, createdAt },
      ...{ attempts: 0, lastOutcome: null, nextAttemptAt: null },
    });
  } else if (table === "outbox_entry") {
    const [accountNo, deliveryId, endpointId, run, task, leaseId, leasedUntil] = row as [
      ...[number, string, string, number, Task],
      ...[string | null, number | null],
    ];
    tables.putEntry({ accountNo, deliveryId, endpointId, run }, task, leaseId, leasedUntil);
  } else throw new UnknownStatement(`the simulation does not know the table ${table}`);
}

/** Replaces the row of a table, if the table has it. */
function assign<Row extends object>(
  rows: Map<unknown, Row>,
  key: unknown,
  fields: Partial<Row>,
): void {
  const row = rows.get(key);
  if (row !== undefined) rows.set(key, { ...row, ...fields });
}

/** The changes that statements make, by how the statements begin. */
const UPDATES: Readonly<Record<string, (tables: Tables, values: Values) => void>> = {
  [BEGIN_RUNS]: ({ deliveries, setState }, [state, , ids]) => {
    for (const row of (ids as string[]).flatMap((id) => deliveries.get(id) ?? [])) {
      setState(row, state as DeliveryState);
      Object.assign(row, { run: row.run + 1, attempts: 0, lastOutcome: null, nextAttemptAt: null });
    }
  },
  "UPDATE endpoint SET name = ?": ({ endpoints }, [, url, , , , switchedOn, , id]) =>
    assign(endpoints, id, { url: url as string, switchedOn: switchedOn as boolean }),
  "UPDATE endpoint SET secret = ?, next_secret = NULL": ({ endpoints }, [secret, , id]) =>
    assign(endpoints, id, { secret: secret as Buffer }),
  "UPDATE endpoint SET deleted_at = ?": ({ endpoints }, [deletedAt, , id]) =>
    assign(endpoints, id, { deletedAt: deletedAt as number, switchedOn: false, url: "" }),
  "UPDATE account SET feed_changed_at = CASE": ({ accounts }, values) => {
    for (const accountNo of values.at(-1) as number[]) {
      const feedChangedAt = values[values.indexOf(accountNo) + 1] as number;
      assign(accounts, accountNo, { feedChangedAt });
    }
  },
  // Owners here may retry again within the same minute.
  "UPDATE account SET bulk_retried_at = ?": () => undefined,
  "UPDATE account SET blocked_at = ?": ({ accounts }, [blockedAt, accountNo]) =>
    assign(accounts, accountNo, { blockedAt: blockedAt as number | null }),
  "UPDATE webhook_event e\n  STRAIGHT_JOIN delivery d FORCE INDEX (delivery_event)\n    ON d.account_no = e.account_no AND d.event_id = e.id SET d.state = 7":
    (tables, values) => {
      const rows = deliveriesOfRecord(tables, values).map((id) => tables.deliveries.get(id));
      for (const row of rows) {
        if (row === undefined || row.state === DeliveryState.Delivered) continue;
        tables.setState(row, DeliveryState.Erased);
        row.nextAttemptAt = null;
      }
    },
  "UPDATE webhook_event e\n  STRAIGHT_JOIN delivery d FORCE INDEX (delivery_event)\n    ON d.account_no = e.account_no AND d.event_id = e.id\n     STRAIGHT_JOIN delivery_attempt a":
    () => undefined,
  "DELETE o FROM webhook_event e": (tables, values) => {
    for (const id of deliveriesOfRecord(tables, values)) tables.deleteEntry(id);
  },
  "UPDATE webhook_event SET payload = NULL": ({ events }, [, recordId]) => {
    for (const row of events.values()) if (row.recordId === recordId) row.payload = null;
  },
};
