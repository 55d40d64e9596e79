import mysql, { type RowDataPacket } from "mysql2/promise";
import type { Bench } from "../run/bench.ts";
import type { Counter, Figures } from "./figures.ts";

/** The bench's own look at the database, whose statements are counted so that they can be left out. */
export type Watch = {
  /** Runs a statement; the caller knows what its rows are. */
  rows<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the one number that a query selects. */
  number(sql: string, values?: readonly unknown[]): Promise<number>;
  /** Returns some of the server's counters. */
  status(names: readonly string[]): Promise<Figures>;
  /** Returns the database's clock, in microseconds since 1970. */
  now(): Promise<number>;
  /** Counts the statements that others sent to the database, and the transactions that were committed. */
  readonly statements: Counter;
};

type StatusRow = { Variable_name: string; Value: string };

/** Watches a database server, which nobody else may use. */
export function startWatch({ closeLater }: Bench, databaseUrl: string): Watch {
  const pool = mysql.createPool({ uri: databaseUrl, connectionLimit: 1 });
  closeLater(() => pool.end());
  let own = 0;

  async function rows<Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    own += 1;
    const [found] = await pool.query<RowDataPacket[]>(sql, [...values]);
    return found as Row[];
  }
  async function number(sql: string, values?: readonly unknown[]): Promise<number> {
    const [row = {}] = await rows<object>(sql, values);
    return Number(Object.values(row)[0]);
  }
  async function status(names: readonly string[]): Promise<Figures> {
    const found = await rows<StatusRow>(
      `SHOW GLOBAL STATUS WHERE Variable_name IN ('${names.join("', '")}')`,
    );
    return Object.fromEntries(found.map((row) => [row.Variable_name, Number(row.Value)]));
  }
  return {
    ...{ rows, number, status },
    now: () => number("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"),
    async statements() {
      const { Questions = 0, Com_commit: commits = 0 } = await status(["Questions", "Com_commit"]);
      return { statements: Questions - own, commits };
    },
  };
}
