import mysql, { type RowDataPacket } from "mysql2/promise";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import type { Bench } from "../run/bench.ts";
import type { Figures } from "./figures.ts";

type StatusRow = { Variable_name: string; Value: string };

export type Watch = ReturnType<typeof startWatch>;

const COUNTERS = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_commit')";

/** Watches a database server that only this bench uses. The watch counts its own statements, to subtract them. */
export function startWatch({ closeLater }: Bench, databaseUrl: string) {
  const pool = mysql.createPool({ uri: databaseUrl, connectionLimit: 1 });
  closeLater(() => pool.end());
  let own = 0;
  const watch = {
    async rows<Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
      own += 1;
      const [rows] = await pool.query<RowDataPacket[]>(sql, [...values]);
      return rows as Row[]; // the caller knows its columns
    },
    /** Returns the only number that a query selects. */
    async number(sql: string, values: readonly unknown[] = []): Promise<number> {
      const [row = {}] = await watch.rows<object>(sql, values);
      return Number(Object.values(row)[0]);
    },
    /** Returns the database's clock, in microseconds since 1970. */
    now: () => watch.number(`SELECT ${NOW_MICROS}`),
    /** Counts the statements of others and the committed transactions. */
    async statements(): Promise<Figures> {
      const rows = await watch.rows<StatusRow>(COUNTERS);
      const of = (counter: string) =>
        Number(rows.find(({ Variable_name: name }) => name === counter)?.Value);
      return { statements: of("Questions") - own, commits: of("Com_commit") };
    },
  };
  return watch;
}
