import { randomBytes } from "node:crypto";
import { migrate } from "@activity/server";
import mysql from "mysql2/promise";
import { inject } from "vitest";

/** A migrated database of a test's own. */
export type TestDatabase = {
  readonly url: string;
  /** Runs one statement on a connection outside the product. */
  query<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
};

/** Creates an empty database in the server that the run shares, unless another is given. */
export async function createTestDatabase(
  serverUrl: string = inject("databaseUrl"),
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = new URL(serverUrl);
  const admin = mysql.createPool({ uri: url.href, connectionLimit: 1, supportBigNumbers: true });
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.query(`USE ${name}`);
  url.pathname = `/${name}`;
  await migrate(url.href);
  return {
    url: url.href,
    async query<Row>(sql: string, values: unknown[] = []) {
      const [rows] = await admin.query(sql, values);
      return rows as Row[];
    },
    async drop() {
      await admin.query(`DROP DATABASE ${name}`);
      await admin.end();
    },
  };
}
