import { DeliveryState } from "../../../server/src/dispatch/delivery-state.ts";
import { Task } from "../../../server/src/dispatch/outbox-store.ts";
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

/** What is in flight of a party at a moment: its deliveries that have not ended. */
export type InFlight = {
  readonly all: number;
  /** In the outbox, leased to nobody. */
  readonly waiting: number;
  /** Leased for their first attempt. */
  readonly leased: number;
  /** Failed at least once, and to be retried or just being retried. */
  readonly retrying: number;
};

/** Counts a party's deliveries that have not ended. */
export async function countInFlight(stack: CrashStack, { accountIds }: Party): Promise<InFlight> {
  const rows = await stack.query<{ state: number; leased: number; deliveries: number }>(
    `SELECT d.state, COALESCE(o.leased_until > ${NOW}, 0) AS leased, COUNT(*) AS deliveries
     FROM (SELECT account_no, id, state FROM delivery WHERE ${OF_PARTY} AND state IN (?)) d
     LEFT JOIN outbox_entry o ON o.account_no = d.account_no AND o.delivery_id = d.id
     GROUP BY d.state, leased`,
    [accountIds, [DeliveryState.Pending, DeliveryState.Retrying]],
  );
  const count = (isCounted: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(isCounted).reduce((sum, { deliveries }) => sum + deliveries, 0);
  return {
    all: count(() => true),
    waiting: count(({ state, leased }) => state === DeliveryState.Pending && leased === 0),
    leased: count(({ state, leased }) => state === DeliveryState.Pending && leased === 1),
    retrying: count(({ state }) => state === DeliveryState.Retrying),
  };
}

/** A delivery, what it tells, and how many attempts of it are on record. */
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

/** Lists the ids of all deliveries that failed and are to be retried. */
export async function listRetrying(stack: CrashStack): Promise<string[]> {
  const rows = await stack.query<{ id: string }>("SELECT id FROM delivery WHERE state = ?", [
    DeliveryState.Retrying,
  ]);
  return rows.map(({ id }) => id);
}

/** Counts the retries of all accounts that are due by then, or were before. */
export async function countDueWithin(stack: CrashStack, seconds: number): Promise<number> {
  const [row] = await stack.query<{ deliveries: number }>(
    `SELECT COUNT(*) AS deliveries FROM delivery
     WHERE state = ? AND next_attempt_at < ${NOW} + ? * 1000000`,
    [DeliveryState.Retrying, seconds],
  );
  return row?.deliveries ?? 0;
}

/** Counts the outbox entries of all accounts: of those that wait for a workflow, when told so. */
export async function countOutbox(stack: CrashStack, retriesOnly = false): Promise<number> {
  const [row] = await stack.query<{ entries: number }>(
    "SELECT COUNT(*) AS entries FROM outbox_entry WHERE task IN (?)",
    [retriesOnly ? [Task.BeginRetries] : Object.values(Task)],
  );
  return row?.entries ?? 0;
}

/** An outbox entry that is leased. */
export type Lease = {
  readonly event_id: string;
  readonly task: Task;
  readonly lease_id: string;
  /** Microseconds since 1970. */
  readonly leased_until: number;
};

/** Lists the leases of all accounts, run out or not. */
export function listLeases(stack: CrashStack): Promise<Lease[]> {
  return stack.query(
    `SELECT d.event_id, o.task, o.lease_id, o.leased_until FROM outbox_entry o
     JOIN delivery d ON d.account_no = o.account_no AND d.id = o.delivery_id
     WHERE o.lease_id IS NOT NULL`,
  );
}

/** Counts the entries that still have one of these leases, run out or not. */
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

/** Makes it as if a party's attempts had ended 0 to 59 seconds earlier. No workflow of theirs may have begun. */
export async function spreadOverLastMinute(stack: CrashStack, party: Party): Promise<void> {
  const ids = (await listDeliveries(stack, party)).map(({ id }) => id);
  const earlier = (id: string) => `(CRC32(${id}) % 60) * 1000000`;
  await stack.query(
    `UPDATE delivery_attempt a JOIN delivery d ON d.account_no = a.account_no AND d.id = a.delivery_id
     SET a.started_at = a.started_at - ${earlier("d.id")},
       d.next_attempt_at = d.next_attempt_at - ${earlier("d.id")}
     WHERE d.id IN (?)`,
    [ids],
  );
}

function nameOfState(state: number): string {
  return Object.entries(DeliveryState).find(([, value]) => value === state)?.[0] ?? `${state}`;
}
