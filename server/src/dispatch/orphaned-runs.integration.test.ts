import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { beforeEach, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { type Run, useServices } from "../../../test/harness/services.ts";

const MINUTE_MICROS = 60_000_000;
const OVERDUE_MICROS = 10 * MINUTE_MICROS;
/** Runs that one search resumes. */
const LIMIT = 200;
const RETRYING = { state: DeliveryState.RETRYING, attempts: 2 };

const services = useServices();
let accountId: string;
let endpointId: string;
beforeEach(async () => {
  for (const table of ["outbox_entry", "delivery", "webhook_event"]) {
    await services.database.query(`DELETE FROM ${table}`);
  }
  accountId = await services.createAccount();
  endpointId = await services.createEndpoint(accountId);
});

const resume = () => services.store.resumeOverdue(OVERDUE_MICROS, LIMIT);
const claimRetries = async () => (await services.dispatch.claimRetries({ limit: 256 })).retries;
const fail = (run: Run, attempt: number) =>
  services.record(run, AttemptOutcome.TIMEOUT, { attempt, retryIn: { seconds: 60n } });
const makeDue = (agoMicros: number) =>
  services.database.query(
    `UPDATE delivery SET next_attempt_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - ?
     WHERE next_attempt_at IS NOT NULL`,
    [agoMicros],
  );

/** Creates a run that Temporal has acknowledged, with `attempts` failed attempts. */
async function acknowledged(attempts: number): Promise<Run> {
  const run = await services.sendTest(accountId, endpointId);
  for (let attempt = 1; attempt <= attempts; attempt++) await fail(run, attempt);
  await services.dispatch.completeRetries({ runs: [run] });
  return run;
}

it("ignores runs that were rescheduled, wait for their first attempt or have ended, §6.4", async () => {
  const rescheduled = await acknowledged(1);
  const ended = await acknowledged(1);
  await makeDue(OVERDUE_MICROS + MINUTE_MICROS);
  await services.record(ended, AttemptOutcome.DELIVERED, { attempt: 2 });
  const wait = { seconds: 3_600n };
  await services.dispatch.rescheduleAttempt({ run: rescheduled, attempt: 2, wait });
  await services.sendTest(accountId, endpointId);
  expect(await resume()).toBe(0);
});

it("resumes 20,000 overdue runs in batches, the longest overdue first, and reads only each batch, §6.4", async () => {
  const many = { accountId, endpointIds: [endpointId], count: 20_000 };
  await writeDeliveries(services.database, many, { ...RETRYING, nextAttemptSeconds: -3_600 });
  const few = { ...many, count: 3 };
  const longest = { ...RETRYING, nextAttemptSeconds: -86_400 };
  const first = await writeDeliveries(services.database, few, longest);
  const rowsRead = await rowCounterOf(services.database, "delivery");
  const before = await rowsRead();
  expect(await resume()).toBe(LIMIT);
  expect((await rowsRead()) - before).toBeLessThan(5 * LIMIT);
  const ids = (await claimRetries()).map(({ run }) => run?.deliveryId);
  expect(ids).toHaveLength(LIMIT);
  expect(ids).toEqual(expect.arrayContaining(first));
});
