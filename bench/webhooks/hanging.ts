import { setTimeout as wait } from "node:timers/promises";
import { WebhookEventKind } from "@activity/proto";
import type { ContributionJobs } from "../load/contribution-worker.ts";
import { newRun } from "../load/contributions.ts";
import { makeTargets } from "../load/targets.ts";
import type { DeliveryStack } from "../stack/delivery-stack.ts";
import type { Worker } from "../stack/jobs.ts";

const WRITERS = 64;
const PORTION_SECONDS = 2;
/** How long an endpoint takes to fill its limit. Without a notification a dispatcher finds entries within 5 seconds. */
const FULL_MS = 7_000;

/** Writes a backlog of at least `least` events while nothing delivers. Keeps it outside the outbox until `put`. */
export async function makeHanging(
  { product, receiver, store, watch }: DeliveryStack,
  load: Worker<ContributionJobs>,
  least: number,
) {
  const { clients, corePort } = await product.collect();
  const kind = WebhookEventKind.SUBSCRIPTION_CREATED;
  const accountIds = await makeTargets(clients, receiver.hanging, kind, "bench_hanging", 1);
  const pace = { workers: WRITERS, seconds: PORTION_SECONDS };
  const job = { port: corePort, credential: store.credential, accountIds, ...pace };
  for (let count = 0; count < least; ) {
    count += (await load.jobs.write({ ...job, run: newRun() })).count;
  }
  await product.rest();
  await watch.rows("CREATE TABLE hanging SELECT * FROM outbox_entry");
  const sql = "SELECT DISTINCT endpoint_id AS id FROM hanging";
  const [{ id: endpointId } = { id: "" }] = await watch.rows<{ id: string }>(sql);
  const take = () => watch.rows("DELETE FROM outbox_entry WHERE endpoint_id = ?", [endpointId]);
  await take();
  return {
    endpointId,
    /** Puts the backlog into the outbox. Waits for `FULL_MS`, so that the endpoint has its limit in flight. */
    async put(): Promise<void> {
      await watch.rows("INSERT INTO outbox_entry SELECT * FROM hanging");
      await wait(FULL_MS);
    },
    take,
  };
}
