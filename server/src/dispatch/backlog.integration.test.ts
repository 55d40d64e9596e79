import { AttemptOutcome } from "@activity/proto";
import { NO_METRICS, type ReadGauges } from "@activity/runtime/metrics";
import { expect, it } from "vitest";
import { writePending } from "../../../test/harness/backlog.ts";
import { useServices } from "../../../test/harness/services.ts";
import { measureBacklog } from "./backlog.ts";
import { readBacklog } from "./backlog-store.ts";

const services = useServices();

it("counts first attempts, workflows to begin and overdue retries, and finds the oldest event", async () => {
  const none = { firstAttempts: 0, beginRetries: 0, oldestId: undefined };
  const notOverdue = { overdue: 0, overdueSince: undefined };
  expect(await readBacklog(services.pool)).toMatchObject({ ...none, ...notOverdue });

  const accountId = await services.createAccount();
  const endpointId = await services.createEndpoint(accountId);
  const first = await services.sendTest(accountId, endpointId);
  const second = await services.sendTest(accountId, endpointId);
  await services.database.query("UPDATE outbox_entry SET run = 2 WHERE delivery_id = ?", [
    first.deliveryId,
  ]);
  // The older delivery now counts as a manual retry.
  const waiting = await readBacklog(services.pool);
  expect(waiting).toMatchObject({ firstAttempts: 2, beginRetries: 0, ...notOverdue });
  expect(waiting.oldestId).toBe(second.deliveryId);

  const retryIn = { seconds: 60n };
  await services.record(second, AttemptOutcome.TIMEOUT, { retryIn });
  const retried = await readBacklog(services.pool);
  expect(retried).toMatchObject({ firstAttempts: 1, beginRetries: 1, ...notOverdue });

  const dueAt = retried.nowMicros - 90_000_000;
  await services.database.query("UPDATE delivery SET next_attempt_at = ? WHERE id = ?", [
    dueAt,
    second.deliveryId,
  ]);
  expect(await readBacklog(services.pool)).toMatchObject({ overdue: 1, overdueSince: dueAt });
});

/** Writes 10,001 entries of one account and applies `change` to them. Then sends a test of another account. */
async function sendBesideMany(change: string) {
  const [many, other] = [await services.createAccount(), await services.createAccount()];
  const endpointIds = [await services.createEndpoint(many)];
  await writePending(services.database, { accountId: many, endpointIds, count: 10_001 });
  await services.database.queryShards(`UPDATE outbox_entry SET ${change}`);
  await services.sendTest(other, await services.createEndpoint(other));
}

it("counts the entries of each task, however many another task has", async () => {
  await sendBesideMany("task = 2");
  const counted = { firstAttempts: 1, beginRetries: 10_000, oldestId: expect.any(String) };
  expect(await readBacklog(services.pool)).toMatchObject(counted);
});

it("never says that no event waits if 10,000 manual retries may hide it", async () => {
  await sendBesideMany("run = 2");
  const gauges: ReadGauges[] = [];
  measureBacklog({ ...NO_METRICS, gauges: (_, read) => gauges.push(read) }, services.pool);
  const [entries, oldest] = (await gauges[0]?.()) ?? [];
  expect(entries).toContainEqual({ labels: ["first_attempt"], value: 10_000 });
  expect(oldest).not.toContainEqual({ labels: [], value: 0 });
});
