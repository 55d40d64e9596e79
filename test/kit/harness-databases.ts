import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import mysql from "mysql2/promise";
import pg from "pg";
import { startMysql } from "../../receiver-kit/test/servers/mysql.ts";
import { startPostgres } from "../../receiver-kit/test/servers/postgres.ts";

/** The database of one receiver: where its effects are, beside the kit's own table. */
export type ReceiverDatabase = {
  /** What the README's store reads. */
  readonly env: Readonly<Record<string, string>>;
  /** The event of every effect, one entry an effect: an effect that is there twice is here twice. */
  readEffects(): Promise<string[]>;
  stop(): Promise<void>;
};

// No key: nothing but the kit keeps an effect from being there twice.
const CREATE_REWARD = "CREATE TABLE reward (event_id VARCHAR(64) NOT NULL)";
const SELECT_REWARDS = "SELECT event_id FROM reward";

type Reward = { readonly event_id: string };

/** Starts a MariaDB or MySQL of the receiver's own. */
export async function startMysqlDatabase(): Promise<ReceiverDatabase> {
  const server = await startMysql();
  const pool = mysql.createPool(server.url);
  await pool.query(CREATE_REWARD);
  return {
    env: { DATABASE_URL: server.url },
    async readEffects() {
      const [rows] = await pool.query(SELECT_REWARDS);
      return idsOf(rows as Reward[]); // What mysql2 gives for a SELECT.
    },
    async stop() {
      await pool.end();
      await server.stop();
    },
  };
}

/** Starts a PostgreSQL of the receiver's own. */
export async function startPostgresDatabase(): Promise<ReceiverDatabase> {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url });
  await pool.query(CREATE_REWARD);
  return {
    env: { DATABASE_URL: server.url },
    readEffects: async () => idsOf((await pool.query<Reward>(SELECT_REWARDS)).rows),
    async stop() {
      await pool.end();
      await server.stop();
    },
  };
}

/** Creates an SQLite file of the receiver's own. */
export async function createSqliteDatabase(): Promise<ReceiverDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "activity-sqlite-"));
  const file = join(folder, "receiver.db");
  const db = new DatabaseSync(file, { timeout: 5_000 });
  db.exec(CREATE_REWARD);
  return {
    env: { DATABASE_FILE: file },
    // What node:sqlite gives for these columns.
    readEffects: async () => idsOf(db.prepare(SELECT_REWARDS).all() as Reward[]),
    async stop() {
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function idsOf(rewards: readonly Reward[]): string[] {
  return rewards.map((reward) => reward.event_id);
}
