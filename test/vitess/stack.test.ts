import mysql from "mysql2/promise";
import { expect, inject, it } from "vitest";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { type RunningVitess, startVitess } from "./harness-vitess.ts";

const SHARDS = ["activity/-40", "activity/40-80", "activity/80-c0", "activity/c0-", "lookup/0"];

it("serves each shard, dies when killed, comes back with what it stored, and ends when stopped", async () => {
  const first = await start();
  const names = (await ask(first.url, "SHOW VITESS_SHARDS")).map(({ Shards }) => Shards);
  expect(names).toEqual(SHARDS);
  const databases = first.keyspaces.flatMap(({ shards }) => shards.map(({ database }) => database));
  expect(databases).toHaveLength(SHARDS.length);
  await ask(first.url, "CREATE TABLE kept (id INT PRIMARY KEY)");
  await first.kill();
  await expect(ask(first.url, "SELECT 1")).rejects.toThrow("ECONNREFUSED");
  const second = await start(Number(new URL(first.url).port));
  try {
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, "SHOW TABLES")).toHaveLength(1);
  } finally {
    await second.stop();
  }
  await expect(ask(second.url, "SELECT 1")).rejects.toThrow("ECONNREFUSED");
});

function start(port?: number): Promise<RunningVitess> {
  return startVitess({
    ...{ env: process.env, progress: silentProgress },
    ...{ mysqlUrl: inject("databaseUrl"), prefix: "stack", shards: 4, port },
  });
}

async function ask(uri: string, sql: string): Promise<mysql.RowDataPacket[]> {
  const connection = await mysql.createConnection(`${uri}/activity`);
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>(sql);
    return rows;
  } finally {
    await connection.end();
  }
}
