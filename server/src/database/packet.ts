import type { PoolConnection as Connection } from "mysql2";
import mysql, { escape as escapeValue, type SqlValue } from "mysql2/promise";
import { type Answer, withDeadline } from "./deadline.ts";
import { retryAfterDeadlock } from "./deadlock.ts";
import {
  connectionOptions,
  prepareSessions,
  type ResultSetHeader,
  type RowDataPacket,
} from "./pool.ts";
import { type PoolUse, poolUse } from "./pool-use.ts";

/** An SQL statement, and the values for its question marks. */
export type Statement = { readonly sql: string; readonly values: readonly unknown[] };

/** The answers to a packet's statements, in order: rows, or an empty list for a change. */
export type PacketRows = readonly (readonly RowDataPacket[])[];

/** The statements of a transaction's second packet, and the caller's result after the commit. */
export type Stored<Result> = { readonly statements: readonly Statement[]; readonly result: Result };

type Decide<Result> = (rows: PacketRows) => Stored<Result>;

/** Connections that take several statements in one packet, and so in one round trip. */
export type Packets = {
  /** Runs statements as one transaction in one packet. Repeats it after a deadlock. */
  run(statements: readonly Statement[]): Promise<PacketRows>;
  /**
   * Runs a transaction in two packets. The first reads rows for `decide`. The second writes what `decide` returns,
   * and commits. After a deadlock `decide` runs again.
   */
  loadAndStore<Result>(load: readonly Statement[], decide: Decide<Result>): Promise<Result>;
  /** How the connections are used now. */
  use(): PoolUse;
  close(): Promise<void>;
};

/** Sets how long connections with a short deadline, such as three seconds, wait for locks. */
const SHORT_LOCK_WAITS = "SET SESSION innodb_lock_wait_timeout = 2, lock_wait_timeout = 4";
const COMMIT: Statement = { sql: "COMMIT", values: [] };

/**
 * Creates `connections` connections for packets. No other connections of the service take several statements at once. A
 * transaction that takes longer than `deadlineMs` fails with DatabaseTimeoutError. The transaction may have been
 * committed, as after any lost connection.
 */
export function createPackets(url: string, connections: number, deadlineMs: number): Packets {
  const pool = mysql.createPool({
    ...connectionOptions(url),
    connectionLimit: connections,
    maxIdle: connections,
    multipleStatements: true,
    // Statements already contain their values, so the driver must not search them for placeholders.
    queryFormat: (sql: string) => sql,
  });
  const more = deadlineMs < 10_000 ? [SHORT_LOCK_WAITS] : [];
  // Without autocommit, the first statement begins a transaction, and only COMMIT or ROLLBACK ends it.
  prepareSessions(pool, ...more, "SET autocommit = 0");
  const within = <Result>(ask: (connection: Connection, answer: Answer<Result>) => void) =>
    retryAfterDeadlock(() => withDeadline<Result>(pool, deadlineMs, ask));

  return {
    run: (statements) =>
      within<PacketRows>((connection, answer) =>
        send(connection, [...statements, COMMIT], answer, (rows) => answer(null, rows)),
      ),

    loadAndStore: <Result>(load: readonly Statement[], decide: Decide<Result>) =>
      within<Result>((connection, answer) =>
        send(connection, load, answer, (rows) => {
          const { statements, result } = decide(rows);
          send(connection, [...statements, COMMIT], answer, () => answer(null, result));
        }),
      ),

    use: () => poolUse(pool.pool),
    close: () => pool.end(),
  };
}

/**
 * Sends one packet. After a failure it rolls back first, to release locks at once. Then it reports the failure, and
 * the connection is closed.
 */
function send(
  connection: Connection,
  statements: readonly Statement[],
  answer: Answer<never>,
  next: (rows: PacketRows) => void,
): void {
  const fail = (error: Error) =>
    connection.query("ROLLBACK", () => answer(error, undefined as never));
  connection.query<never>(textOf(statements), (failure, results) => {
    if (failure) return fail(failure);
    try {
      next(rowsOf(results, statements.length));
    } catch (error) {
      fail(error as Error);
    }
  });
}

function textOf(statements: readonly Statement[]): string {
  return statements.map(withValues).join(";\n");
}

/** Puts values into a statement. In the service's statements, every question mark stands for a value. */
function withValues({ sql, values }: Statement): string {
  const parts = sql.split("?");
  if (parts.length !== values.length + 1) throw new Error("a statement lacks values");
  let text = parts[0] ?? "";
  for (const [place, value] of values.entries()) {
    text += textOfValue(value) + (parts[place + 1] ?? "");
  }
  return text;
}

/** Writes a value as SQL. Only a list inside a list gets parentheses, as `IN (?)` and `VALUES ?` need it. */
function textOfValue(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (value === null) return "NULL";
  // This is faster than the driver, which looks for dates first.
  if (Buffer.isBuffer(value)) return `X'${value.toString("hex")}'`;
  if (!Array.isArray(value)) return escapeValue(value as SqlValue);
  let text = "";
  for (const each of value) {
    if (text !== "") text += ",";
    text += Array.isArray(each) ? `(${textOfValue(each)})` : textOfValue(each);
  }
  return text;
}

/** Returns the rows of each answer. The driver returns no list for one statement, and its types allow only one. */
function rowsOf(results: unknown, count: number): PacketRows {
  const answers = (count === 1 ? [results] : results) as (ResultSetHeader | RowDataPacket[])[];
  return answers.map((answer) => (Array.isArray(answer) ? answer : []));
}
