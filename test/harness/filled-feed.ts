import { accountNoOf } from "../../server/src/common/ids.ts";
import { NUMBERS } from "./backlog.ts";
import type { TestDatabase } from "./database.ts";

const START_MICROS = 1_790_000_000_000_000;
const STEP_MICROS = 1_000_000;
const CHUNK = 50_000;
const VISIBLE = 700_000;
const HIDDEN = 300_000;

/**
 * Fills an account's feed by SQL with 1,000,000 records, one a second. The first 700,000 are platform events of every
 * type and platform. The last 300,000 are hidden donations: they go into `donation` only.
 */
export async function fillFeed(database: TestDatabase, accountId: string): Promise<void> {
  const accountNo = accountNoOf(accountId);
  for (let from = 0; from < VISIBLE + HIDDEN; from += CHUNK) {
    const id = `LPAD(LOWER(CONV(${from} + n, 10, 36)), 15, '0')`;
    const at = `${START_MICROS} + (${from} + n) * ${STEP_MICROS}`;
    const insert =
      from >= VISIBLE
        ? `donation (account_no, platform, external_id, record_id, status, amount_cents, currency, donated_at, recorded_at, test)
           SELECT ${accountNo}, 1, ${id}, ${id}, 3, 500, 'eur', ${at}, ${at}, FALSE`
        : `activity (account_no, recorded_at, record_key, type, platform, unit, value, actor_name, message)
           SELECT ${accountNo}, ${at}, CONCAT(${id}, 'e'), 2 + n MOD 5, 2 + n MOD 4, 2, n, CONCAT('Supporter ', n),
             IF(n MOD 3, NULL, 'A message of some words for the streamer')`;
    await database.query(`INSERT INTO ${insert} FROM ${NUMBERS} WHERE n < ${CHUNK}`);
  }
  await database.query("ANALYZE TABLE activity");
}

/** The time at this fraction of the visible feed, as a query parameter. */
export function timeAt(fraction: number): string {
  const micros = START_MICROS + Math.floor(VISIBLE * fraction) * STEP_MICROS;
  return new Date(micros / 1000).toISOString();
}
