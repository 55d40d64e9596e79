import { DeliveryState } from "../../../server/src/dispatch/delivery-state.ts";
import type { CrashStack } from "./harness-stack.ts";
import type { Party } from "./harness-writers.ts";

const OF_PARTY = "account_no IN (SELECT account_no FROM account WHERE id IN (?))";

/** Counts a party's deliveries by the names of their states. */
export async function countStates(
  stack: CrashStack,
  { accountIds }: Party,
): Promise<Record<string, number>> {
  const rows = await stack.query<{ state: number; deliveries: number }>(
    `SELECT state, COUNT(*) AS deliveries FROM delivery WHERE ${OF_PARTY} GROUP BY state`,
    [accountIds],
  );
  return Object.fromEntries(rows.map(({ state, deliveries }) => [nameOfState(state), deliveries]));
}

/** Counts a party's deliveries that have not ended. */
export async function countInFlight(stack: CrashStack, party: Party): Promise<number> {
  const { Pending = 0, Retrying = 0 } = await countStates(stack, party);
  return Pending + Retrying;
}

export function listDeliveries(stack: CrashStack, { accountIds }: Party) {
  return stack.query<{ id: string; event_id: string; attempts: number }>(
    `SELECT id, event_id, attempts FROM delivery WHERE ${OF_PARTY}`,
    [accountIds],
  );
}

/** Counts the outbox entries of all accounts. */
export async function countOutbox(stack: CrashStack): Promise<number> {
  const sql = "SELECT COUNT(*) AS found FROM outbox_entry";
  const [row] = await stack.query<{ found: number }>(sql);
  return row?.found ?? 0;
}

function nameOfState(state: number): string {
  return Object.entries(DeliveryState).find(([, value]) => value === state)?.[0] ?? `${state}`;
}
