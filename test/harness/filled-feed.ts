import type { TestDatabase } from "./database.ts";

/** A feed filled by SQL: too many records to send one by one. */
export type FilledFeed = {
  /** The time at a fraction of the way through the feed, as a parameter. */
  at(fraction: number): string;
};

const START_MICROS = 1_790_000_000_000_000;
const STEP_MICROS = 1_000_000;
const CHUNK = 50_000;

/**
 * Fills an account's feed with the visible part of `records` donations and platform events of all types
 * and platforms, one a second; the hidden part lies where hidden records lie.
 */
export async function fillFeed(
  database: TestDatabase,
  accountId: string,
  counts: { readonly records: number; readonly hidden: number },
): Promise<FilledFeed> {
  const [account] = await database.query<{ account_no: number }>(
    "SELECT account_no FROM account WHERE id = ?",
    [accountId],
  );
  const no = account?.account_no;
  await database.query("CREATE TABLE digit (d INT) ENGINE = InnoDB");
  await database.query("INSERT INTO digit VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)");
  const numbers = `(SELECT a.d + b.d * 10 + c.d * 100 + d.d * 1000 + e.d * 10000 AS n
    FROM digit a, digit b, digit c, digit d, digit e) numbers WHERE n < ${CHUNK}`;
  const visible = counts.records - counts.hidden;
  for (let from = 0; from < counts.records; from += CHUNK) {
    const id = `LPAD(LOWER(CONV(${from} + n, 10, 36)), 15, '0')`;
    const at = `${START_MICROS} + (${from} + n) * ${STEP_MICROS}`;
    const hidden = from >= visible;
    await database.query(
      hidden
        ? `INSERT INTO donation (account_no, platform, external_id, record_id, status, amount_cents, currency, donated_at, recorded_at, test)
           SELECT ${no}, 1, ${id}, ${id}, 3, 500, 'eur', ${at}, ${at}, FALSE FROM ${numbers}`
        : `INSERT INTO activity (account_no, recorded_at, record_key, type, platform, unit, value, actor_name, message)
           SELECT ${no}, ${at}, CONCAT(${id}, 'e'), 2 + n MOD 5, 2 + n MOD 4, 2, n, CONCAT('Supporter ', n),
             IF(n MOD 3, NULL, 'A message of some words for the streamer') FROM ${numbers}`,
    );
  }
  await database.query("ANALYZE TABLE activity");
  return {
    at(fraction) {
      const micros = START_MICROS + Math.floor(visible * fraction) * STEP_MICROS;
      return new Date(micros / 1000).toISOString();
    },
  };
}
