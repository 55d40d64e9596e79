import { DeliveryState } from "@activity/proto";
import { expect, inject, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { useServices } from "../../../test/harness/services.ts";
import { accountNoOf } from "../common/ids.ts";
import { NOW_MICROS } from "../database/now.ts";
import { inTransaction } from "../database/transaction.ts";
import { listFailedAt, readEndpoints } from "./subject-store.ts";

const services = useServices();

it("endpoints are read without the failed deliveries of other endpoints, ADR 0054", async () => {
  const accountId = await services.createAccount();
  const create = () => services.createEndpoint(accountId);
  const [failing, first, second] = [await create(), await create(), await create()];
  const backlog = { accountId, endpointIds: [failing], count: 10_000 };
  await writeDeliveries(services.database, backlog, { state: DeliveryState.FAILED, attempts: 1 });
  const subjects = [failing, first, second].map((id) => ({
    accountNo: accountNoOf(accountId) ?? 0,
    id,
  }));
  const rowsRead = await rowCounterOf(services.database, "delivery");
  const before = await rowsRead();
  const read = await inTransaction(services.pool, (tx) => readEndpoints(tx, subjects));
  expect((await rowsRead()) - before).toBeLessThan(10);
  expect(read.filter(({ hasFailed }) => hasFailed).map(({ id }) => id)).toEqual([failing]);
});

/** Writes an hour of each account from 1 to `count`, with the same endpoint id. */
async function writeHours(count: number, hasFailed: (accountNo: number) => boolean) {
  const hour = `${NOW_MICROS} DIV 3600000000 * 3600000000`;
  const accountNos = Array.from({ length: count }, (_, at) => at + 1);
  const rows = accountNos.map((no) => `(${no}, 'endpoint', ${hour}, 1, ${hasFailed(no)}, 1, 1)`);
  await services.database.query(
    `INSERT INTO delivery_stat (account_no, endpoint_id, began_at, delivered, failed,
       total_duration, longest_duration) VALUES ${rows.join()}`,
  );
}

it("endpoints whose attempts failed are listed without reading those that work, ADR 0054", async () => {
  await writeHours(10_000, (accountNo) => accountNo === 5_000);
  const rowsRead = await rowCounterOf(services.database, "delivery_stat");
  const before = await rowsRead();
  const listed = await listFailedAt(services.pool, { at: 0, accountNo: 0, id: "" }, 200);
  expect((await rowsRead()) - before).toBeLessThan(10);
  expect(listed).toMatchObject([{ accountNo: 5_000, id: "endpoint" }]);
});

it("a sweep reads no hour of an endpoint again for its next page, ADR 0054", async () => {
  await services.database.query("DELETE FROM delivery_stat");
  await writeHours(1_000, () => true);
  const [first] = await listFailedAt(services.pool, { at: 0, accountNo: 0, id: "" }, 1);
  const after = { at: first?.at ?? 0, accountNo: 900, id: "endpoint" };
  const rowsRead = await rowCounterOf(services.database, "delivery_stat");
  const before = await rowsRead();
  const page = await listFailedAt(services.pool, after, 50);
  expect(page.map(({ accountNo }) => accountNo)).toEqual(page.map((_, at) => 901 + at));
  expect(page).toHaveLength(50);
  // A vtgate rewrites the position's OR, so a shard reads from the first entry of that hour.
  expect((await rowsRead()) - before).toBeLessThan(inject("shards") ? 1_200 : 200);
});
