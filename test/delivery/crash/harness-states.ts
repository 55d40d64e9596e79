import { DeliveryState } from "../../../server/src/dispatch/delivery-state.ts";
import type { CrashStack } from "./harness-stack.ts";
import type { Party } from "./harness-writers.ts";

const OF_PARTY = "account_no IN (SELECT account_no FROM account WHERE id IN (?))";
const NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

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

/** A delivery, its event, and the number of its recorded attempts. */
export type StoredDelivery = {
  readonly id: string;
  readonly event_id: string;
  readonly attempts: number;
};

/** Lists a party's deliveries. */
export function listDeliveries(
  stack: CrashStack,
  { accountIds }: Party,
): Promise<StoredDelivery[]> {
  return stack.query(`SELECT id, event_id, attempts FROM delivery WHERE ${OF_PARTY}`, [accountIds]);
}

/** Lists the ids of all deliveries that wait for a retry. */
export async function listRetrying(stack: CrashStack): Promise<string[]> {
  const rows = await stack.query<{ id: string }>("SELECT id FROM delivery WHERE state = ?", [
    DeliveryState.Retrying,
  ]);
  return rows.map(({ id }) => id);
}

/** Counts the retries of all accounts that are due within these seconds, or overdue. */
export async function countDueWithin(stack: CrashStack, seconds: number): Promise<number> {
  const [row] = await stack.query<{ deliveries: number }>(
    `SELECT COUNT(*) AS deliveries FROM delivery
     WHERE state = ? AND next_attempt_at < ${NOW} + ? * 1000000`,
    [DeliveryState.Retrying, seconds],
  );
  return row?.deliveries ?? 0;
}

/** Counts the outbox entries of all accounts. */
export async function countOutbox(stack: CrashStack): Promise<number> {
  const [row] = await stack.query<{ entries: number }>(
    "SELECT COUNT(*) AS entries FROM outbox_entry",
  );
  return row?.entries ?? 0;
}

/** A leased outbox entry. */
export type Lease = { readonly lease_id: string };

/** Lists all leases, expired or not. */
export function listLeases(stack: CrashStack): Promise<Lease[]> {
  return stack.query("SELECT lease_id FROM outbox_entry WHERE lease_id IS NOT NULL");
}

/** Counts the entries that still have one of these leases, expired or not. */
export async function countStillLeased(
  stack: CrashStack,
  leases: readonly Lease[],
): Promise<number> {
  const ids = ["", ...new Set(leases.map(({ lease_id: id }) => id))];
  const [row] = await stack.query<{ entries: number }>(
    "SELECT COUNT(*) AS entries FROM outbox_entry WHERE lease_id IN (?)",
    [ids],
  );
  return row?.entries ?? 0;
}

function nameOfState(state: number): string {
  return Object.entries(DeliveryState).find(([, value]) => value === state)?.[0] ?? `${state}`;
}
