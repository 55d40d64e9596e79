import { WebhookEventKind } from "@activity/proto";
import { runRestored } from "../../../test/harness/restored.ts";
import { startServices } from "../../../test/harness/services.ts";
import { exerciseDispatchStore } from "../../../test/simulation/conformance/exercise-dispatch-store.ts";
import { accountNoOf } from "../common/ids.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { DeliveryState } from "./delivery-state.ts";

type DeliveryRow = {
  state: DeliveryState;
  run: number;
  attempts: number;
  last_outcome: number | null;
  due_in: number | null;
};

exerciseDispatchStore("on a database", async () => {
  const services = await startServices();
  const { database, store, packets, pool, outbox } = services;
  return {
    ...{ store, packets, pool, outbox },
    async createAccount(count) {
      const accountId = await services.createAccount();
      const endpointIds: string[] = [];
      for (let number = 0; number < count; number++) {
        const kinds = [WebhookEventKind.DONATION_CREATED];
        endpointIds.push(await services.createEndpoint(accountId, kinds));
      }
      const accountNo = accountNoOf(accountId) ?? 0;
      return { accountId, accountNo, endpointIds: endpointIds.sort() };
    },
    async pass(milliseconds) {
      const micros = [milliseconds * 1000];
      await database.query("UPDATE outbox_entry SET leased_until = leased_until - ?", micros);
      await database.query("UPDATE delivery SET next_attempt_at = next_attempt_at - ?", micros);
    },
    async read(deliveryId) {
      const [row] = await database.query<DeliveryRow>(
        `SELECT state, run, attempts, last_outcome, (next_attempt_at - ${NOW_MICROS}) / 1000 AS due_in
         FROM delivery WHERE id = ?`,
        [deliveryId],
      );
      if (row === undefined) throw new Error("there is no such delivery");
      const { state, run, attempts, last_outcome: lastOutcome, due_in: dueInMs } = row;
      const due = dueInMs === null ? undefined : Number(dueInMs);
      return { state, run, attempts, lastOutcome: lastOutcome ?? undefined, dueInMs: due };
    },
    deliveriesOf: (accountNo, endpointId) =>
      database.column(
        "SELECT id FROM delivery WHERE account_no = ? AND endpoint_id = ? ORDER BY id",
        [accountNo, endpointId],
      ),
    async whileLocked(deliveryId, work) {
      const find = "SELECT account_no FROM delivery WHERE id = ?";
      const accountNo = BigInt((await database.value<number>(find, [deliveryId])) ?? 0);
      return services.whileLocked({ accountNo, deliveryId, run: 1 }, work);
    },
    restored: () => runRestored(database),
    async clear() {
      await database.query("DELETE FROM outbox_entry");
      await database.query("DELETE FROM delivery");
    },
    stop: () => services.stop(),
  };
});
