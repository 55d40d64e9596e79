import type { PacketRows, Packets, Statement, Stored } from "../../server/src/database/packet.ts";
import type { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import type { Task } from "../../server/src/dispatch/outbox-store.ts";
import type { Holder, Session } from "./memory-locks.ts";
import type { Link } from "./memory-store.ts";
import type { Tables } from "./memory-tables.ts";

type Row = PacketRows[number][number];
type Values = readonly unknown[];

/**
 * Creates the connections of owners' writes on tables in memory. They know the statements of the product that change
 * what dispatch reads, by their beginnings; one that is new to them fails.
 */
export function createMemoryPackets(
  tables: Tables,
  link: Link,
  session: Session = { isOver: false },
): Pick<Packets, "loadAndStore"> {
  const { locks } = tables;
  return {
    async loadAndStore<Result>(
      load: readonly Statement[],
      decide: (rows: PacketRows) => Stored<Result>,
    ): Promise<Result> {
      const accountNos = load[0]?.values[0] as readonly number[];
      const names = accountNos.map((accountNo) => `account ${accountNo}`);
      const holder: Holder = { session, isOver: false };
      const isOver = () => holder.isOver || session.isOver;
      const ask = async <Answer>(name: string, work: () => { answer: Answer } | undefined) => {
        for (;;) {
          const answered = await link({ name, isWrite: true }, work);
          if (answered !== undefined) return answered.answer;
          await locks.released();
        }
      };
      try {
        const rows = await ask("load", () => {
          if (isOver()) throw new Error("the connection was closed");
          if (locks.isHeld(names)) return undefined;
          locks.takeFree(names, holder);
          return { answer: load.map((statement) => rowsOf(tables, statement)) };
        });
        const { statements, result } = decide(rows);
        const touched = statements.flatMap((statement) => deliveriesOf(tables, statement));
        await ask("store", () => {
          if (isOver()) throw new Error("the connection was closed");
          if (locks.isHeld(touched)) return undefined;
          for (const statement of statements) apply(tables, statement);
          locks.release(holder);
          return { answer: undefined };
        });
        return result;
      } finally {
        locks.release(holder);
      }
    },
  };
}

/** Rows with all columns of what the lookups of owners' writes name. */
function rowsOf(tables: Tables, { sql, values }: Statement): readonly Row[] {
  // Behind those of subqueries.
  const table = [...sql.matchAll(/ FROM (\w+)/g)].at(-1)?.[1];
  if (sql.startsWith("SELECT TIMESTAMPDIFF")) return [{ now_micros: tables.nowMicros() } as Row];
  if (table === "account") {
    return [...tables.accounts.values()]
      .filter(({ accountNo }) => (values[0] as number[]).includes(accountNo))
      .map(
        ({ accountNo, id, blockedAt, feedChangedAt }) =>
          ({
            ...{ account_no: accountNo, id, blocked_at: blockedAt },
            feed_changed_at: feedChangedAt,
          }) as Row,
      );
  }
  if (table === "endpoint") {
    return [...tables.endpoints.values()]
      .filter(({ deletedAt }) => deletedAt === null)
      .map(
        (row) =>
          ({
            ...{ account_no: row.accountNo, id: row.id, kinds: -1, url: row.url },
            ...{ secret: row.secret, standard_webhooks: 0, created_at: 0, pending_from: null },
            ...{ min_amount_cents: 0, name: "" },
            switched_on: row.switchedOn ? 1 : 0,
          }) as Row,
      );
  }
  if (table === "delivery") {
    return [...tables.deliveries.values()].map(
      (row) =>
        ({
          ...{
            account_no: row.accountNo,
            id: row.id,
            endpoint_id: row.endpointId,
            kind: 1,
            test: 0,
          },
          ...{ event_id: row.eventId, state: row.state, run: row.run, attempts: row.attempts },
          ...{ last_outcome: row.lastOutcome, created_at: row.createdAt },
          next_attempt_at: row.nextAttemptAt,
          is_erased: tables.events.get(row.eventId)?.payload === null ? 1 : 0,
        }) as Row,
    );
  }
  throw new Error(`the simulation does not know ${sql}`);
}

/** The deliveries that a statement locks: it waits for who has locked one. */
function deliveriesOf(tables: Tables, { sql, values }: Statement): string[] {
  if (sql.startsWith("UPDATE delivery SET state = ?, run = run + 1")) return values[2] as string[];
  if (!sql.includes("SET d.state")) return [];
  return deliveriesOfRecord(tables, values).map(({ id }) => id);
}

function deliveriesOfRecord({ events, deliveries }: Tables, [, recordId]: Values) {
  return [...deliveries.values()].filter(({ eventId }) => {
    return events.get(eventId)?.recordId === recordId;
  });
}

function apply(tables: Tables, { sql, values }: Statement): void {
  const insert = /^INSERT INTO (\w+)\s*\(/.exec(sql);
  if (insert !== null) {
    for (const row of values[0] as Values[]) insertRow(tables, insert[1] ?? "", row);
    return;
  }
  const known = UPDATES.find(([beginning]) => sql.startsWith(beginning));
  if (known === undefined) throw new Error(`the simulation does not know ${sql}`);
  known[1](tables, values);
}

/** The columns stand in the order of the statements that name them. */
function insertRow(tables: Tables, table: string, row: Values): void {
  if (table === "webhook_event") {
    const [accountNo, id, , , recordId, payload] = row as [
      number,
      string,
      number,
      number,
      string | null,
      Buffer,
    ];
    tables.events.set(id, { accountNo, id, recordId, payload });
  } else if (table === "delivery") {
    const [accountNo, id, endpointId, eventId, , , state, run, createdAt] = row as [
      ...[number, string, string, string, number, boolean],
      ...[DeliveryState, number, number],
    ];
    const fresh = { attempts: 0, lastOutcome: null, nextAttemptAt: null };
    tables.insertDelivery({ accountNo, id, endpointId, eventId, state, run, createdAt, ...fresh });
  } else if (table === "outbox_entry") {
    const [accountNo, deliveryId, endpointId, run, task, leaseId, leasedUntil] = row as [
      ...[number, string, string, number, Task],
      ...[string | null, number | null],
    ];
    tables.putEntry({ accountNo, deliveryId, endpointId, run, task, leaseId, leasedUntil });
  } else throw new Error(`the simulation does not know the table ${table}`);
}

type Update = (tables: Tables, values: Values) => void;

const UPDATES: readonly (readonly [string, Update])[] = [
  [
    "UPDATE delivery SET state = ?, run = run + 1",
    (tables, [state, , ids]) => {
      for (const id of ids as string[]) {
        const row = tables.deliveries.get(id);
        if (row === undefined) continue;
        tables.setState(row, state as DeliveryState);
        Object.assign(row, { run: row.run + 1, attempts: 0, lastOutcome: null });
        row.nextAttemptAt = null;
      }
    },
  ],
  [
    "UPDATE endpoint SET name = ?",
    ({ endpoints }, [, url, , , , switchedOn, , id]) => {
      const row = endpoints.get(id as string);
      if (row) Object.assign(row, { url, switchedOn });
    },
  ],
  [
    "UPDATE endpoint SET secret = ?, next_secret = NULL",
    ({ endpoints }, [secret, , id]) => {
      const row = endpoints.get(id as string);
      if (row) row.secret = secret as Buffer;
    },
  ],
  [
    "UPDATE endpoint SET deleted_at = ?",
    ({ endpoints }, [deletedAt, , id]) => {
      const row = endpoints.get(id as string);
      if (row) Object.assign(row, { deletedAt, switchedOn: false, url: "" });
    },
  ],
  [
    "UPDATE account SET feed_changed_at = CASE",
    ({ accounts }, values) => {
      for (const accountNo of values.at(-1) as number[]) {
        const row = accounts.get(accountNo);
        if (row) row.feedChangedAt = values[values.indexOf(accountNo) + 1] as number;
      }
    },
  ],
  [
    "UPDATE account SET blocked_at = ?",
    ({ accounts }, [blockedAt, accountNo]) => {
      const row = accounts.get(accountNo as number);
      if (row) row.blockedAt = blockedAt as number | null;
    },
  ],
  [
    "UPDATE webhook_event e\n  STRAIGHT_JOIN delivery d ON d.account_no = e.account_no AND d.event_id = e.id SET d.state = 7",
    (tables, values) => {
      for (const row of deliveriesOfRecord(tables, values)) {
        if (row.state === 3) continue;
        tables.setState(row, 7);
        row.nextAttemptAt = null;
      }
    },
  ],
  [
    "UPDATE webhook_event e\n  STRAIGHT_JOIN delivery d ON d.account_no = e.account_no AND d.event_id = e.id\n     STRAIGHT_JOIN delivery_attempt a",
    () => undefined,
  ],
  [
    "DELETE o FROM webhook_event e",
    (tables, values) => {
      for (const { id } of deliveriesOfRecord(tables, values)) tables.deleteEntry(id);
    },
  ],
  [
    "UPDATE webhook_event SET payload = NULL",
    ({ events }, [, recordId]) => {
      for (const row of events.values()) if (row.recordId === recordId) row.payload = null;
    },
  ],
];
