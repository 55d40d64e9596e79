import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { beforeEach, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { type Run, useServices } from "../../../test/harness/services.ts";
import { NOW_MICROS } from "../database/now.ts";

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

/** Creates a run whose first attempt failed, and which Temporal has acknowledged. */
async function createAcknowledged(): Promise<Run> {
  const run = await services.sendTest(accountId, endpointId);
  await services.record(run, AttemptOutcome.TIMEOUT, { retryIn: { seconds: 60n } });
  await services.dispatch.completeRetries({ runs: [run] });
  return run;
}

it("ignores runs that were rescheduled, wait for their first attempt or have ended, §6.4", async () => {
  const [rescheduled, ended] = [await createAcknowledged(), await createAcknowledged()];
  await services.database.query(
    `UPDATE delivery SET next_attempt_at = ${NOW_MICROS} - ? WHERE next_attempt_at IS NOT NULL`,
    [OVERDUE_MICROS + MINUTE_MICROS],
  );
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
  const { retries } = await services.dispatch.claimRetries({ limit: 256 });
  const ids = retries.map(({ run }) => run?.deliveryId);
  expect(ids).toHaveLength(LIMIT);
  expect(ids).toEqual(expect.arrayContaining(first));
});
