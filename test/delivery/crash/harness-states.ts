import { type DeliveryState, DeliveryStateSchema } from "@activity/proto";
import type { CrashStack } from "./harness-stack.ts";
import type { Party } from "./harness-writers.ts";

const OF_PARTY = "account_no IN (SELECT account_no FROM account WHERE id IN (?))";

/** Counts a party's deliveries by the names of their states. */
export async function countStates(
  stack: CrashStack,
  { accountIds }: Party,
): Promise<Record<string, number>> {
  const rows = await stack.query<{ state: DeliveryState; deliveries: number }>(
    `SELECT state, COUNT(*) AS deliveries FROM delivery WHERE ${OF_PARTY} GROUP BY state`,
    [accountIds],
  );
  const nameOf = (state: DeliveryState) => DeliveryStateSchema.value[state]?.localName ?? state;
  return Object.fromEntries(rows.map(({ state, deliveries }) => [nameOf(state), deliveries]));
}

/** Counts a party's deliveries that have not ended. */
export async function countInFlight(stack: CrashStack, party: Party): Promise<number> {
  const { PENDING = 0, RETRYING = 0 } = await countStates(stack, party);
  return PENDING + RETRYING;
}

export function listDeliveries(stack: CrashStack, { accountIds }: Party) {
  return stack.query<{ id: string; event_id: string; attempts: number }>(
    `SELECT id, event_id, attempts FROM delivery WHERE ${OF_PARTY}`,
    [accountIds],
  );
}
