import type { PoolConnection as Connection } from "mysql2";
import mysql, { escape as escapeValue, type SqlValue } from "mysql2/promise";
import { type Answer, withDeadline } from "./deadline.ts";
import { againAfterDeadlock } from "./deadlock.ts";
import {
  connectionOptions,
  prepareSession,
  type ResultSetHeader,
  type RowDataPacket,
} from "./pool.ts";
import { type PoolUse, poolUse } from "./pool-use.ts";

/** An SQL statement, and its values: they stand, escaped by the driver, where it has question marks. */
export type Statement = { readonly sql: string; readonly values: readonly unknown[] };

/** What the database answered to the statements of a packet, in their order: rows, or of a change none. */
export type PacketRows = readonly (readonly RowDataPacket[])[];

/** What the second packet of a transaction does, and what the caller is told once it has committed. */
export type Stored<Result> = { readonly statements: readonly Statement[]; readonly result: Result };

type Decide<Result> = (rows: PacketRows) => Stored<Result>;

/** Connections that take several statements in one packet: one round trip, however many they are. */
export type Packets = {
  /** Runs statements as one transaction in one packet, again when it lost a deadlock. */
  run(statements: readonly Statement[]): Promise<PacketRows>;
  /**
   * Runs a transaction in two packets: the first reads, and what `decide` makes of its rows is written and
   * committed by the second. `decide` runs again when the transaction lost a deadlock.
   */
  loadAndStore<Result>(load: readonly Statement[], decide: Decide<Result>): Promise<Result>;
  /** What its connections do now. */
  use(): PoolUse;
  close(): Promise<void>;
};

/**
 * A host that vanishes between two packets leaves a transaction with an account's lock. The server ends such a session:
 * MariaDB one that is silent within a transaction, MySQL any. It is longer than a transaction may take.
 */
const END_SILENT_SESSIONS =
  "SET SESSION wait_timeout = 60 /*M!100303 , idle_transaction_timeout = 15 */";

const COMMIT: Statement = { sql: "COMMIT", values: [] };

/**
 * Creates `connections` connections for packets: the only ones of the service that take several statements
 * at once, so that nothing else can send them. A transaction that takes longer than `deadlineMs` fails with
 * DatabaseTimeoutError; then, as whenever a connection is lost, it may have been committed or not.
 */
export function createPackets(url: string, connections: number, deadlineMs: number): Packets {
  const pool = mysql.createPool({
    ...connectionOptions(url),
    connectionLimit: connections,
    maxIdle: connections,
    multipleStatements: true,
    // Texts come with their values; the driver would read through them for others.
    queryFormat: (sql: string) => sql,
  });
  pool.pool.on("connection", (connection: { query(sql: string): unknown }) => {
    prepareSession(connection);
    // The first statement begins a transaction, and only COMMIT or ROLLBACK ends it.
    connection.query("SET autocommit = 0");
    connection.query(END_SILENT_SESSIONS);
  });
  const within = <Result>(ask: (connection: Connection, answer: Answer<Result>) => void) =>
    againAfterDeadlock(() => withDeadline<Result>(pool, deadlineMs, ask));

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
 * Sends one packet. Whatever fails gives back at once what its transaction has locked; only then is it told,
 * and the connection closed.
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

/** No statement of the service has a question mark that is not a value's place. */
function withValues({ sql, values }: Statement): string {
  const parts = sql.split("?");
  if (parts.length !== values.length + 1) throw new Error("a statement lacks values");
  let text = parts[0] ?? "";
  for (const [place, value] of values.entries()) {
    text += textOfValue(value) + (parts[place + 1] ?? "");
  }
  return text;
}

/** A list stands without parentheses, each list in it with them: for `IN (?)`, and for the rows of `VALUES ?`. */
function textOfValue(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (value === null) return "NULL";
  // The driver looks for dates first.
  if (Buffer.isBuffer(value)) return `X'${value.toString("hex")}'`;
  if (!Array.isArray(value)) return escapeValue(value as SqlValue);
  let text = "";
  for (const each of value) {
    if (text !== "") text += ",";
    text += Array.isArray(each) ? `(${textOfValue(each)})` : textOfValue(each);
  }
  return text;
}

/** The driver's types know no answers of several statements; of a single one it gives no list. */
function rowsOf(results: unknown, count: number): PacketRows {
  const answers = (count === 1 ? [results] : results) as (ResultSetHeader | RowDataPacket[])[];
  return answers.map((answer) => (Array.isArray(answer) ? answer : []));
}
