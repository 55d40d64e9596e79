import { DeliveryState } from "../../../server/src/delivery/delivery-state.ts";
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
  return Object.fromEntries(rows.map(({ state, deliveries }) => [nameOf(state), deliveries]));
}

/** What is in flight of a party at a moment: its deliveries that have not ended. */
export type InFlight = {
  readonly all: number;
  /** In the outbox: Temporal has not acknowledged them. */
  readonly waiting: number;
  /** Handed over, and their first attempt is not recorded. */
  readonly underWay: number;
  /** Failed at least once, and to be tried again or just tried. */
  readonly retrying: number;
};

/** Counts a party's deliveries that have not ended. */
export async function countInFlight(stack: CrashStack, { accountIds }: Party): Promise<InFlight> {
  const { Waiting, HandedOver } = DeliveryState;
  const rows = await stack.query<{ state: number; failed: number; deliveries: number }>(
    `SELECT state, attempts > 0 AS failed, COUNT(*) AS deliveries FROM delivery
     WHERE ${OF_PARTY} AND state IN (?) GROUP BY state, failed`,
    [accountIds, [Waiting, HandedOver]],
  );
  const count = (isCounted: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(isCounted).reduce((sum, { deliveries }) => sum + deliveries, 0);
  return {
    all: count(() => true),
    waiting: count(({ state }) => state === Waiting),
    underWay: count(({ state, failed }) => state === HandedOver && failed === 0),
    retrying: count(({ state, failed }) => state === HandedOver && failed === 1),
  };
}

/** Lists the ids of a party's webhook events. */
export async function listEventIds(stack: CrashStack, { accountIds }: Party): Promise<string[]> {
  const sql = `SELECT id FROM webhook_event WHERE ${OF_PARTY}`;
  return (await stack.query<{ id: string }>(sql, [accountIds])).map(({ id }) => id);
}

/** Lists the ids of all deliveries that failed and are to be tried again, or of those among some. */
export async function listWaitingForRetry(
  stack: CrashStack,
  among?: readonly string[],
): Promise<string[]> {
  if (among?.length === 0) return [];
  const rows = await stack.query<{ id: string }>(
    `SELECT id FROM delivery WHERE state = ? AND attempts > 0${among ? " AND id IN (?)" : ""}`,
    [DeliveryState.HandedOver, ...(among ? [among] : [])],
  );
  return rows.map(({ id }) => id);
}

/** Lists the ids of all deliveries of which more than one attempt was made. */
export async function listRetried(stack: CrashStack): Promise<string[]> {
  const sql = "SELECT id FROM delivery WHERE attempts > 1";
  return (await stack.query<{ id: string }>(sql)).map(({ id }) => id);
}

/** Counts what waits in the outbox, of all accounts. */
export async function countOutbox(stack: CrashStack): Promise<number> {
  const [row] = await stack.query<{ entries: number }>(
    "SELECT COUNT(*) AS entries FROM outbox_entry",
  );
  return row?.entries ?? 0;
}

/** Ends the leases of claims whose relay is dead, as half a minute would. */
export async function endLeases(stack: CrashStack): Promise<void> {
  await stack.query("UPDATE outbox_entry SET claimable_at = 0");
}

/** Counts the attempts on record of a party's deliveries. */
export async function countAttempts(stack: CrashStack, { accountIds }: Party): Promise<number> {
  const [row] = await stack.query<{ attempts: number }>(
    `SELECT COUNT(*) AS attempts FROM delivery_attempt WHERE ${OF_PARTY}`,
    [accountIds],
  );
  return row?.attempts ?? 0;
}

function nameOf(state: number): string {
  return Object.entries(DeliveryState).find(([, value]) => value === state)?.[0] ?? `${state}`;
}
