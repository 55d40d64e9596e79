import { beforeEach } from "vitest";
import type { Run, Services } from "./services.ts";

/** Before each test, empties the tables `clears`, and creates an account with one endpoint. */
export function useOwner(services: Services, { clears = [] }: { clears?: readonly string[] } = {}) {
  const own = { accountId: "", endpointId: "" };
  beforeEach(async () => {
    for (const table of clears) await services.database.query(`DELETE FROM ${table}`);
    own.accountId = await services.createAccount();
    own.endpointId = await services.createEndpoint(own.accountId);
  });
  const keyOf = ({ deliveryId }: Run) => ({ accountId: own.accountId, deliveryId });
  const read = (run: Run) => services.deliveries.getDelivery(keyOf(run));
  return {
    own,
    sendTest: () => services.sendTest(own.accountId, own.endpointId),
    read,
    stateOf: async (run: Run) => (await read(run)).delivery?.state,
    retry: (run: Run) => services.deliveries.retryDelivery(keyOf(run)),
  };
}
