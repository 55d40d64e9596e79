import mysql, { format, type SqlValue } from "mysql2/promise";
import { withDeadline } from "./deadline.ts";
import { isDeadlock } from "./outage.ts";
import {
  connectionOptions,
  type Pool,
  prepareSession,
  type ResultSetHeader,
  type RowDataPacket,
} from "./pool.ts";

/** An SQL statement; the driver puts its values, escaped, in the places of its question marks. */
export type Statement = { readonly sql: string; readonly values: readonly unknown[] };

/** What the database answered to the statements of a packet, in their order: rows, or of a change none. */
export type PacketRows = readonly (readonly RowDataPacket[])[];

/** What the second packet of a transaction does, and what the caller is told once it has committed. */
export type Stored<Result> = { readonly statements: readonly Statement[]; readonly result: Result };

/** Connections that take several statements in one packet: one round trip, however many they are. */
export type Packets = {
  /** Runs statements as one transaction in one packet. */
  run(statements: readonly Statement[]): Promise<PacketRows>;
  /**
   * Runs a transaction in two packets: the first reads, and what `decide` makes of its rows is written and
   * committed by the second. `decide` runs again when the transaction lost a deadlock.
   */
  loadAndStore<Result>(
    load: readonly Statement[],
    decide: (rows: PacketRows) => Stored<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
};

/** How often a transaction that lost a deadlock is run again. */
const DEADLOCK_RETRIES = 5;
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
  });
  pool.pool.on("connection", (connection: { query(sql: string): unknown }) => {
    prepareSession(connection);
    // The first statement begins a transaction, and only COMMIT ends it. One that fails closes the connection.
    connection.query("SET autocommit = 0");
  });

  return {
    run: (statements) =>
      withDeadline<PacketRows>(pool, deadlineMs, (connection, answer) =>
        connection.query<never>(textOf([...statements, COMMIT]), (error, results) =>
          answer(error, rowsOf(results)),
        ),
      ),

    async loadAndStore(load, decide) {
      const text = textOf(load);
      for (let attempt = 0; ; attempt++) {
        try {
          return await loadAndStoreOnce(pool, deadlineMs, text, decide);
        } catch (error) {
          if (!isDeadlock(error) || attempt === DEADLOCK_RETRIES) throw error;
        }
      }
    },

    close: () => pool.end(),
  };
}

function loadAndStoreOnce<Result>(
  pool: Pool,
  deadlineMs: number,
  load: string,
  decide: (rows: PacketRows) => Stored<Result>,
): Promise<Result> {
  return withDeadline<Result>(pool, deadlineMs, (connection, answer) => {
    const fail = (error: Error) => answer(error, undefined as never);
    connection.query<never>(load, (loadError, results) => {
      if (loadError) return fail(loadError);
      let stored: Stored<Result>;
      try {
        stored = decide(rowsOf(results));
      } catch (error) {
        return fail(error as Error);
      }
      const { statements, result } = stored;
      connection.query<never>(textOf([...statements, COMMIT]), (storeError) =>
        storeError ? fail(storeError) : answer(null, result),
      );
    });
  });
}

function textOf(statements: readonly Statement[]): string {
  // The driver's types do not know the lists of rows that it takes.
  return statements.map(({ sql, values }) => format(sql, values as SqlValue[])).join(";\n");
}

/** The driver's types know no answers of several statements; of a single one it gives no list. */
function rowsOf(results: unknown): PacketRows {
  const answers = results as (ResultSetHeader | RowDataPacket[])[] | undefined;
  return (answers ?? []).map((answer) => (Array.isArray(answer) ? answer : []));
}
