import type { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { leastIdAt } from "../../server/src/common/ids.ts";
import { NUMBERS } from "./backlog.ts";
import type { TestDatabase } from "./database.ts";

/** Describes one delivery of each event. */
export type FilledDelivery = {
  readonly endpointId: string;
  readonly kind: WebhookEventKind;
  readonly state: DeliveryState;
  readonly outcome: AttemptOutcome;
};

/** An event whose deliveries were filled in. */
export type FilledEvent = { readonly id: string; readonly createdAtMicros: number };

/** The first event's time, in September 2020. One event follows in each microsecond. */
const START_MICROS = 1_600_000_000_000_000;
const CHUNK = 50_000;

/**
 * Fills an account's deliveries by SQL. Each event has one delivery for each element of `like`, but no row of its
 * own. Returns the event in the middle.
 */
export async function fillDeliveries(
  database: Pick<TestDatabase, "queryShards">,
  accountId: string,
  count: number,
  like: readonly FilledDelivery[],
): Promise<FilledEvent> {
  const place = `(n % ${like.length} + 1)`;
  const one = (values: readonly unknown[]) =>
    `ELT(${place}, ${values.map((value) => `'${value}'`).join(", ")})`;
  for (let from = 0; from < count; from += CHUNK) {
    const event = `((${from} + n) DIV ${like.length})`;
    const at = `(${START_MICROS} + ${event})`;
    const time = `LPAD(LOWER(CONV(${at}, 10, 36)), 10, '0')`;
    await database.queryShards(
      `INSERT INTO delivery (account_no, id, endpoint_id, event_id, kind, test, state, run, attempts,
         last_outcome, created_at)
       SELECT account_no, CONCAT(${time}, LPAD(${place}, 5, '0')), ${one(like.map((each) => each.endpointId))},
         CONCAT('wev_', ${time}, '00000'), ${one(like.map((each) => each.kind))}, FALSE,
         ${one(like.map((each) => each.state))}, 1, 1, ${one(like.map((each) => each.outcome))}, ${at}
       FROM account JOIN ${NUMBERS} WHERE account.id = ? AND n < ${Math.min(CHUNK, count - from)}`,
      [accountId],
    );
  }
  await database.queryShards("ANALYZE TABLE delivery");
  const createdAtMicros = START_MICROS + Math.floor(count / like.length / 2);
  return { id: `wev_${leastIdAt(createdAtMicros)}`, createdAtMicros };
}
