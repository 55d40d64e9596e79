import { DeliveryState } from "@activity/proto";
import { expect, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { useServices } from "../../../test/harness/services.ts";

const OVERDUE_MICROS = 600_000_000;
/** Runs that one search resumes. */
const LIMIT = 200;
const RETRYING = { state: DeliveryState.RETRYING, attempts: 2 };

const services = useServices();

it("resumes 20,000 overdue runs in batches, the longest overdue first, and reads only each batch, §6.4", async () => {
  const accountId = await services.createAccount();
  const endpointIds = [await services.createEndpoint(accountId)];
  const many = { accountId, endpointIds, count: 20_000 };
  await writeDeliveries(services.database, many, { ...RETRYING, nextAttemptSeconds: -3_600 });
  const few = { ...many, count: 3 };
  const longest = { ...RETRYING, nextAttemptSeconds: -86_400 };
  const first = await writeDeliveries(services.database, few, longest);
  const rowsRead = await rowCounterOf(services.database, "delivery");
  const before = await rowsRead();
  expect(await services.store.resumeOverdue(OVERDUE_MICROS, LIMIT)).toBe(LIMIT);
  expect((await rowsRead()) - before).toBeLessThan(5 * LIMIT);
  const { retries } = await services.dispatch.claimRetries({ limit: 256 });
  const ids = retries.map(({ run }) => run?.deliveryId);
  expect(ids).toHaveLength(LIMIT);
  expect(ids).toEqual(expect.arrayContaining(first));
});
