import { newRun } from "../load/contributions.ts";
import { donate, donationKeys, eachConcurrently } from "../load/targets.ts";
import { type Figures, until } from "../measure/figures.ts";
import { measureCase, type Stack } from "./stack.ts";

type Case = {
  readonly label: string;
  /** The name of the setting that has the count. */
  readonly size: "floor" | "backlog" | "failing" | "workflows";
  measure(stack: Stack, count: number): Promise<Figures>;
};

/** Pauses between polls: short enough for exact rates, long enough not to load the database or Temporal's file. */
const [POLL_MS, SLOW_POLL_MS] = [10, 250];
const DELIVERIES = "FROM delivery WHERE created_at > ?";
/** Counts delivered deliveries. 3 is the stored number of DeliveryState.DELIVERED. */
const DELIVERED = `SELECT COUNT(*) ${DELIVERIES} AND state = 3`;
const ATTEMPTED = `SELECT COUNT(*) ${DELIVERIES} AND attempts >= 1`;
const END_RUNNING =
  "UPDATE delivery SET state = 5, next_attempt_at = NULL WHERE created_at > ? AND state = 2";
const UNCOUNTED = "SELECT COUNT(*) FROM delivery_attempt WHERE counted = FALSE";
const RUNNING = "WorkflowType = 'deliver' AND ExecutionStatus = 'Running'";
const ALL = { DELIVERY_WORKFLOWS: "all" };

/** The cases of a round, in order. */
export const CASES = {
  floor: { label: "floor: an empty workflow each", size: "floor", measure: measureFloor },
  "one-receiver": {
    ...({ label: "backlog to one receiver", size: "backlog" } as const),
    measure: (stack, count) => measureBacklog(stack, stack.accountIds.one, count),
  },
  "many-accounts": {
    ...({ label: "backlog to many accounts' endpoints", size: "backlog" } as const),
    measure: (stack, count) => measureBacklog(stack, stack.accountIds.many, count),
  },
  // Makes fewer deliveries, so that no retry falls due during the measurement.
  failing: { label: "backlog failing with 500", size: "failing", measure: measureFailing },
  // Makes fewer deliveries, because their workflows are slower than the empty ones of the floor.
  workflows: {
    ...({ label: "backlog to many, DELIVERY_WORKFLOWS=all", size: "workflows" } as const),
    measure: (stack, count) => measureBacklog(stack, stack.accountIds.many, count, ALL),
  },
} satisfies Record<string, Case>;
export type CaseName = keyof typeof CASES;
export const CASE_NAMES = Object.keys(CASES) as CaseName[]; // its keys are the cases

/** Measures eagerly started empty workflows until all have ended. */
async function measureFloor(stack: Stack, workflows: number): Promise<Figures> {
  let seconds = 0;
  const figures = await measureCase(stack, workflows, async () => {
    seconds = await stack.floor.jobs.empty(stack.temporal.address, workflows);
  });
  return { ...figures, perSecond: workflows / seconds };
}

/** Measures a backlog from its first arrival until every delivery is recorded with a 2xx. */
export async function measureBacklog(
  stack: Stack,
  accountIds: readonly string[],
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Figures> {
  const beganMs = Date.now();
  const since = await beginBacklog(stack, accountIds, count, 200, env);
  const work = () => recorded(stack, DELIVERED, since, count);
  const figures = await measureCase(stack, count, work, beganMs);
  await stack.product.rest();
  return figures;
}

/**
 * Measures a backlog whose receiver fails, from its first arrival until every first attempt is recorded and every
 * retry's workflow sleeps in Temporal's synced state.
 */
async function measureFailing(stack: Stack, count: number): Promise<Figures> {
  const { product, watch, state, client, accountIds } = stack;
  const asleepBefore = state.countAsleep();
  const { count: runningBefore } = await client.count(RUNNING);
  const beganMs = Date.now();
  const since = await beginBacklog(stack, accountIds.one, count, 500, {});
  const work = async () => {
    await recorded(stack, ATTEMPTED, since, count);
    await until(() => state.countAsleep() - asleepBefore >= count, SLOW_POLL_MS);
  };
  const figures = await measureCase(stack, count, work, beganMs);
  await product.rest();
  const wait = (await client.count(RUNNING)).count - runningBefore;
  if (wait < count) throw new Error(`${wait} of ${count} deliveries wait for their retry`);
  // Ends these runs. Otherwise their retries would fall due in another measurement, or a sweep would find them overdue.
  const deliveries = await watch.rows<{ id: string }>(`SELECT id ${DELIVERIES}`, [since]);
  await eachConcurrently(deliveries, ({ id }) => client.getHandle(`delivery-${id}-1`).terminate());
  await watch.rows(END_RUNNING, [since]);
  return figures;
}

/**
 * Writes a backlog while nothing delivers, then starts the deliveries. Resolves at the first arrival. Returns the
 * database's time before the backlog.
 */
async function beginBacklog(
  { product, receiver, watch }: Stack,
  accountIds: readonly string[],
  count: number,
  status: number,
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const since = await watch.now();
  const { clients } = await product.collect();
  await donate(clients, donationKeys(accountIds, count, newRun()));
  await receiver.jobs.expect(status, "");
  // Hides the outbox entries until `deliver` resolves. Otherwise the product would claim some of them earlier.
  await watch.rows("CREATE TABLE held SELECT * FROM outbox_entry");
  await watch.rows("DELETE FROM outbox_entry");
  await product.deliver(env);
  await watch.rows("INSERT INTO outbox_entry SELECT * FROM held");
  await watch.rows("DROP TABLE held");
  await receiver.jobs.arrived(1);
  return since;
}

async function recorded({ receiver, watch }: Stack, sql: string, since: number, count: number) {
  await receiver.jobs.arrived(count);
  await until(async () => (await watch.number(sql, [since])) === count, POLL_MS);
}

/**
 * Measures how the core counts attempts for the dashboard, which it does every half minute. `count` is the number of
 * attempts that the earlier cases left uncounted.
 */
export async function measureCounting(stack: Stack): Promise<Figures> {
  const { product, watch } = stack;
  const count = await watch.number(UNCOUNTED);
  await product.collect();
  const isCounted = async () => (await watch.number(UNCOUNTED)) === 0;
  return measureCase(stack, count, () => until(isCounted, SLOW_POLL_MS));
}
