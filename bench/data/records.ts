/** A run of accounts with as many records each; in a shard only those accounts get some that are there. */
export type RecordSet = {
  readonly firstAccountNo: number;
  readonly accounts: number;
  readonly recordsPerAccount: number;
  readonly isShard?: boolean;
};

/** Rows a statement makes. */
export const CHUNK = 100_000;

const FIRST_RECORDED_AT = Date.UTC(2024, 0, 1) * 1000;
/** The last moment an account of `records` records was written at. */
export const lastRecordedAt = (records: number) => FIRST_RECORDED_AT + records * 60_000_000;

const DIGITS = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(" UNION ALL ");
const NAMES = ["Mira", "Jonas 🎮", "Ζωή", "the_real_kestrel", "Анна К.", 'Zoë "Zed" Müller'];
const MESSAGES = [
  "Thank you for the stream, see you on Thursday!",
  "That last boss fight was the best thing I have seen all week 🎉🎉 — keep going, you nearly had it on the second try.",
  "gg",
  'Greetings from Łódź. Could you play the "old" map again?\nI missed it last time.',
];
const CHOSEN = (texts: readonly string[], number: string) =>
  `ELT(1 + (${number}) MOD ${texts.length}, ${texts.map(literal).join(", ")})`;

/**
 * The columns every table below is made of, for records `offset` to `offset + CHUNK`. i numbers the
 * records of an account; of ten, 0 to 2 are hidden donations, 3 to 6 shown ones, 7 to 9 platform events.
 */
function recordsFrom(set: RecordSet, offset: number) {
  const { firstAccountNo, accounts, recordsPerAccount, isShard = false } = set;
  const digits = ["a", "b", "c", "d", "e"];
  const tables = digits.map((name) => `(${DIGITS}) ${name}`).join(", ");
  const number = digits.map((name, index) => `${name}.d * ${10 ** index}`).join(" + ");
  const i = `(n MOD ${recordsPerAccount})`;
  const accountNo = `${firstAccountNo} + n DIV ${recordsPerAccount}`;
  const isHere = isShard ? ` AND ${accountNo} IN (SELECT account_no FROM account)` : "";
  return `(
    SELECT ${accountNo} AS account_no, ${i} AS i, ${i} MOD 10 AS kind,
      ${i} DIV 10 AS ten, CRC32(n) AS random,
      ${FIRST_RECORDED_AT} + ${i} * 60000000 + CRC32(n) MOD 59000000 AS recorded_at,
      CONCAT(LPAD(LOWER(CONV(CRC32(CONCAT('id', n)), 10, 36)), 7, '0'),
        LPAD(LOWER(CONV(n, 10, 36)), 8, '0')) AS record_id
    FROM (SELECT ${offset} + ${number} AS n FROM ${tables}) numbers
    WHERE n < ${accounts * recordsPerAccount}${isHere}) r`;
}

const DONATION_PLATFORM = "IF(ten MOD 4 = 0, 6 + random MOD 5, 1)";
const AMOUNT = "100 + random MOD 9900";
const EVENT_TYPE = "2 + ten MOD 5";
const EVENT_PLATFORM = "2 + random MOD 4";
const EVENT_UNIT = `CASE ${EVENT_TYPE} WHEN 2 THEN 2 WHEN 3 THEN 3 WHEN 4 THEN 4
  WHEN 5 THEN IF(${EVENT_PLATFORM} = 5, 6, 5) ELSE 7 END`;
const ACTOR = CHOSEN(NAMES, "random");
const MESSAGE = `IF(random MOD 5 = 0, NULL, ${CHOSEN(MESSAGES, "random DIV 8")})`;

/** Statements that fill `donation`, `platform_event` and `activity` with a chunk of a set's records. */
export function recordStatements(set: RecordSet, offset: number): string[] {
  const records = recordsFrom(set, offset);
  return [
    `INSERT INTO donation (account_no, platform, external_id, record_id, status, amount_cents, currency,
       refunded_amount_cents, donor_name, message, donated_at, recorded_at, test)
     SELECT account_no, ${DONATION_PLATFORM}, record_id, record_id,
       CASE kind WHEN 0 THEN 3 WHEN 1 THEN 4 WHEN 2 THEN 6 ELSE 2 END, ${AMOUNT}, 'eur',
       IF(kind = 0, ${AMOUNT}, 0), ${ACTOR}, ${MESSAGE}, recorded_at - 1000000, recorded_at, FALSE
     FROM ${records} WHERE kind < 7`,
    `INSERT INTO platform_event (account_no, platform, external_id, record_id, recorded_at, test)
     SELECT account_no, ${EVENT_PLATFORM}, record_id, record_id, recorded_at, FALSE
     FROM ${records} WHERE kind >= 7`,
    `INSERT INTO activity (account_no, recorded_at, record_key, type, platform, unit, value, occurred_at,
       currency, refunded_amount_cents, actor_name, message)
     SELECT account_no, recorded_at, CONCAT(record_id, IF(kind < 7, 'd', 'e')),
       IF(kind < 7, 1, ${EVENT_TYPE}),
       IF(kind < 7, ${DONATION_PLATFORM}, ${EVENT_PLATFORM}),
       IF(kind < 7, 1, ${EVENT_UNIT}),
       CASE WHEN kind < 7 THEN ${AMOUNT} WHEN ${EVENT_TYPE} = 2 THEN 0 ELSE 1 + random MOD 500 END,
       IF(kind < 7, recorded_at - 1000000, NULL),
       IF(kind < 7, 'eur', NULL),
       IF(kind < 7 AND ${DONATION_PLATFORM} = 1, 0, NULL),
       ${ACTOR}, IF(kind < 7, ${MESSAGE}, NULL)
     FROM ${records} WHERE kind >= 3`,
  ];
}

function literal(text: string): string {
  return `_utf8mb4 x'${Buffer.from(text, "utf8").toString("hex")}'`;
}
