import { NUMBERS } from "../../test/harness/backlog.ts";
import { type DataSize, FIRST_ACCOUNT_NO } from "./bench-accounts.ts";

/** The number of rows that one statement inserts. */
export const CHUNK = 100_000;

const FIRST_RECORDED_AT = Date.UTC(2024, 0, 1) * 1000;
/** Returns a time soon after an account's last activity, in microseconds. */
export const lastRecordedAt = (activities: number) => FIRST_RECORDED_AT + activities * 60_000_000;

const NAMES = ["Mira", "Jonas 🎮", "Ζωή", "the_real_kestrel", "Анна К.", 'Zoë "Zed" Müller'];
const MESSAGES = [
  "Thank you for the stream, see you on Thursday!",
  "That last boss fight was the best thing I have seen all week 🎉🎉 — keep going, you nearly had it on the second try.",
  "gg",
  'Greetings from Łódź. Could you play the "old" map again?\nI missed it last time.',
];
const DONATION_PLATFORM = "IF(seven MOD 4 = 0, 6 + random MOD 5, 1)";
const EVENT_TYPE = "2 + seven MOD 5";
const EVENT_PLATFORM = "2 + random MOD 4";
const EVENT_UNIT = `CASE ${EVENT_TYPE} WHEN 2 THEN 2 WHEN 3 THEN 3 WHEN 4 THEN 4
  WHEN 5 THEN IF(${EVENT_PLATFORM} = 5, 6, 5) ELSE 7 END`;

/**
 * Returns a statement that fills `activity` with a chunk. Of seven rows four are donations and three platform events.
 */
export function activityStatement(size: DataSize, offset: number): string {
  const { accounts, activitiesPerAccount } = size;
  const i = `(n MOD ${activitiesPerAccount})`;
  const accountNo = `${FIRST_ACCOUNT_NO} + n DIV ${activitiesPerAccount}`;
  return `INSERT INTO activity (account_no, recorded_at, record_key, type, platform, unit, value, occurred_at,
      currency, refunded_amount_cents, actor_name, message)
    SELECT account_no, recorded_at, CONCAT(record_id, IF(donated, 'd', 'e')),
      IF(donated, 1, ${EVENT_TYPE}),
      IF(donated, ${DONATION_PLATFORM}, ${EVENT_PLATFORM}),
      IF(donated, 1, ${EVENT_UNIT}),
      CASE WHEN donated THEN 100 + random MOD 9900 WHEN ${EVENT_TYPE} = 2 THEN 0 ELSE 1 + random MOD 500 END,
      IF(donated, recorded_at - 1000000, NULL),
      IF(donated, 'eur', NULL),
      IF(donated AND ${DONATION_PLATFORM} = 1, 0, NULL),
      ${oneOf(NAMES, "random")},
      IF(donated AND random MOD 5 > 0, ${oneOf(MESSAGES, "random DIV 8")}, NULL)
    FROM (
      SELECT ${accountNo} AS account_no, ${i} MOD 7 < 4 AS donated, ${i} DIV 7 AS seven, CRC32(n) AS random,
        ${FIRST_RECORDED_AT} + ${i} * 60000000 + CRC32(n) MOD 59000000 AS recorded_at,
        CONCAT(LPAD(LOWER(CONV(CRC32(CONCAT('id', n)), 10, 36)), 7, '0'),
          LPAD(LOWER(CONV(n, 10, 36)), 8, '0')) AS record_id
      FROM (SELECT ${offset} + n AS n FROM ${NUMBERS}) numbered
      WHERE n < ${accounts * activitiesPerAccount}) r`;
}

function oneOf(texts: readonly string[], number: string): string {
  const literals = texts.map((text) => `_utf8mb4 x'${Buffer.from(text).toString("hex")}'`);
  return `ELT(1 + (${number}) MOD ${texts.length}, ${literals.join(", ")})`;
}
