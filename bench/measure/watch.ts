import mysql, { type Pool, type RowDataPacket } from "mysql2/promise";
import { readCpuSeconds } from "./process-usage.ts";

/** Who is watched: each by a name, be it one process or several. */
export type WatchedPids<Name extends string> = Readonly<Record<Name, number | readonly number[]>>;

/** What was used between two moments. */
export type Usage<Name extends string> = {
  readonly cpuMs: Readonly<Record<Name, number>>;
  /** Statements that clients sent to the database, the bench's own left out. */
  readonly statements: number;
  /** Transactions among them that were committed. */
  readonly commits: number;
};

/** The bench's own look at the database, whose statements are counted so that they can be left out. */
export type Watch = {
  rows<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the one number that a query selects. */
  number(sql: string, values?: readonly unknown[]): Promise<number>;
  /** Returns the database's clock, in microseconds since 1970. */
  now(): Promise<number>;
  /** Changes something between two measurements. */
  change(sql: string, values: readonly unknown[]): Promise<void>;
  /** Measures what the database is asked and what the named processes use while `work` runs. */
  during<Name extends string, Result>(
    pids: WatchedPids<Name>,
    work: () => Promise<Result>,
  ): Promise<{ result: Result; usage: Usage<Name> }>;
  close(): Promise<void>;
};

type StatusRow = RowDataPacket & { Variable_name: string; Value: string };

/** Watches a database server, which nobody else may use. */
export function startWatch(databaseUrl: string): Watch {
  const pool: Pool = mysql.createPool({ uri: databaseUrl, connectionLimit: 1 });
  let own = 0;

  const snapshot = async (pids: WatchedPids<string>) => {
    own += 1;
    const [rows] = await pool.query<StatusRow[]>(
      "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_commit')",
    );
    const status = new Map(rows.map((row) => [row.Variable_name, Number(row.Value)]));
    const cpu = await Promise.all(Object.values(pids).map((pid) => readCpuSeconds([pid].flat())));
    return {
      statements: (status.get("Questions") ?? 0) - own,
      commits: status.get("Com_commit") ?? 0,
      cpu,
    };
  };

  const query = async (sql: string, values: readonly unknown[] = []) => {
    own += 1;
    const [rows] = await pool.query<RowDataPacket[]>(sql, [...values]);
    return rows;
  };

  return {
    // The caller knows what the statement selects.
    rows: async (sql, values) => (await query(sql, values)) as never,
    async number(sql, values) {
      const [row = {}] = await query(sql, values);
      return Number(Object.values(row)[0]);
    },
    async now() {
      const [row] = await query(
        "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS now",
      );
      return Number(row?.now);
    },
    async change(sql, values) {
      await query(sql, values);
    },
    async during(pids, work) {
      const before = await snapshot(pids);
      const result = await work();
      const after = await snapshot(pids);
      const used = (index: number) => 1000 * ((after.cpu[index] ?? 0) - (before.cpu[index] ?? 0));
      const names = Object.keys(pids) as (keyof typeof pids)[]; // who is watched has no other keys
      const cpuMs = Object.fromEntries(names.map((name, index) => [name, used(index)]));
      return {
        result,
        usage: {
          cpuMs: cpuMs as Usage<keyof typeof pids>["cpuMs"], // one for each name
          statements: after.statements - before.statements,
          commits: after.commits - before.commits,
        },
      };
    },
    close: () => pool.end(),
  };
}
