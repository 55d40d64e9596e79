import { DeliveryState, RUNNING_STATES } from "../../server/src/dispatch/delivery-state.ts";
import { perform } from "./perform.ts";
import { type Probe, startProbe } from "./probe.ts";
import { createProduct, type Product } from "./product.ts";
import type { Scenario } from "./scenario.ts";

export type Outcome = Awaited<ReturnType<typeof simulate>>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The time from the last fault to the end: the longest wait, an hour for a wrong clock, and rescheduled attempts. */
const SETTLES_WITHIN_MS = 15 * HOUR_MS;
const MAX_STEPS = 400_000;
/** A skip ends this long before the next timer that belongs to no process, so that pollers work again. */
const AWAKE_MS = 10_000;
/** How often the simulation checks whether all has ended. */
const LOOK_EVERY_MS = 100;
/** The core resumes a run that is overdue by this. */
const OVERDUE_MS = 10 * MINUTE_MS;

/** Runs a scenario until everything has ended, or a rule is broken. Returns the result. */
export async function simulate(scenario: Scenario) {
  const { actions, frozen, healsAtMs } = scenario;
  const product = createProduct(scenario);
  const { world } = product;
  for (const action of actions) world.after(action.atMs, () => perform(product, action));
  let isHealed = false;
  world.after(healsAtMs, () => {
    isHealed = true;
    product.heal();
  });
  if (frozen !== undefined) world.after(frozen.atMs, () => product.freeze(frozen));
  let probe: Probe | undefined;
  let lookAtMs = 0;
  const endMs = healsAtMs + SETTLES_WITHIN_MS;
  let steps = 0;
  let isSettled = false;
  while (product.violation() === undefined && !isSettled && world.nowMs() < endMs) {
    const quietMs = probe?.isAwake() ? 0 : quietFor(product);
    const isLooking = isHealed && probe === undefined && (quietMs > 0 || world.nowMs() >= lookAtMs);
    if (isLooking) lookAtMs = world.nowMs() + LOOK_EVERY_MS;
    if (isLooking && product.isIdle(product.isFrozen) && unsettled(product) === undefined) {
      probe = startProbe(product);
    } else if (quietMs > 0) world.skip(quietMs);
    if (!(await world.step()) || steps++ > MAX_STEPS) break;
    isSettled = probe?.isOver() ?? false;
  }
  const left = isSettled ? undefined : (unsettled(product) ?? `not idle after ${steps} steps`);
  const endless = left === undefined ? undefined : { rule: "everything ends", what: left };
  return {
    /** The first violation, if any rule was broken. */
    violation: product.violation() ?? endless,
    faults: product.faults.happened,
    steps,
    attempts: product.attempts.all.length,
    deliveries: product.database.tables.deliveries.size,
  };
}

/** How many milliseconds the simulation can skip, because pollers would find nothing. */
function quietFor({ world, database, isIdle }: Product): number {
  const { deliveries, entries, nowMicros } = database.tables;
  const quietMs = world.nextOutsideMs() - world.nowMs() - AWAKE_MS;
  if (quietMs <= AWAKE_MS || entries.size > 0 || !isIdle()) return 0;
  let awakeInMs = quietMs;
  for (const { state, nextAttemptAt } of deliveries.values()) {
    if (state !== DeliveryState.Retrying || nextAttemptAt === null) continue;
    const overdueInMs = (nextAttemptAt - nowMicros()) / 1000 + OVERDUE_MS;
    awakeInMs = Math.min(awakeInMs, overdueInMs);
  }
  return awakeInMs > AWAKE_MS && Number.isFinite(awakeInMs) ? awakeInMs : 0;
}

/** Says what has not ended, apart from what a frozen fault holds. */
function unsettled(product: Product): string | undefined {
  const { database, bulkRetries, unrecorded, isFrozen } = product;
  if (bulkRetries.size > 0) return "a bulk retry has not ended";
  const { deliveries, entries } = database.tables;
  for (const { deliveryId, endpointId } of entries.values()) {
    if (!isFrozen(endpointId)) return `an entry is left of ${deliveryId}`;
  }
  for (const { deliveryId, endpointId, state, run, attempts } of deliveries.values()) {
    if (RUNNING_STATES.includes(state) && !isFrozen(endpointId))
      return `${deliveryId} is in state ${state}, run ${run}, ${attempts}`;
  }
  const one = unrecorded().find(({ endpointId }) => !isFrozen(endpointId));
  return one && `attempt ${one.attempt} of ${one.deliveryId} run ${one.run} is not recorded`;
}
