import { DeliveryState, RUNNING_STATES } from "../../server/src/dispatch/delivery-state.ts";
import { perform } from "./perform.ts";
import { type Probe, startProbe } from "./probe.ts";
import { createProduct, type Product } from "./product.ts";
import { Violation } from "./safety.ts";
import type { Scenario } from "./scenario.ts";

/** How a simulation ended. */
export type Outcome = {
  /** What was broken first, if anything. */
  readonly violation: Violation | undefined;
  /** Names of the faults that befell messages. */
  readonly faults: readonly string[];
  readonly happenings: number;
  readonly attempts: number;
  readonly deliveries: number;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Behind the last fault: the longest wait, a clock that was wrong by an hour, and what is asked for again. */
const SETTLES_WITHIN_MS = 15 * HOUR_MS;
const MAX_HAPPENINGS = 400_000;
/** Pollers begin again that long before something happens. */
const AWAKE_MS = 10_000;
/** How often it is looked whether all has ended. */
const LOOK_EVERY_MS = 100;
/** As the core has it. */
const OVERDUE_MS = 10 * MINUTE_MS;

/** Runs a scenario until all is delivered, or something is broken. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const product = createProduct(scenario);
  const { world } = product;
  for (const action of scenario.actions) {
    world.after(action.atMs, () => perform(product, action));
  }
  let isHealed = false;
  world.after(scenario.healsAtMs, () => {
    isHealed = true;
    product.heal();
  });
  const { frozen } = scenario;
  if (frozen !== undefined) world.after(frozen.atMs, () => product.freeze(frozen));
  let probe: Probe | undefined;
  let lookAtMs = 0;
  const endMs = scenario.healsAtMs + SETTLES_WITHIN_MS;
  let happenings = 0;
  let isSettled = false;
  while (product.violation() === undefined && !isSettled && world.nowMs() < endMs) {
    const quietMs = probe?.isAwake() ? 0 : quietFor(product);
    const isLooking = isHealed && probe === undefined && (quietMs > 0 || world.nowMs() >= lookAtMs);
    if (isLooking) lookAtMs = world.nowMs() + LOOK_EVERY_MS;
    if (isLooking && isSettledBeside(product)) probe = startProbe(product);
    else if (quietMs > 0) world.passQuietly(quietMs);
    if (!(await world.step()) || happenings++ > MAX_HAPPENINGS) break;
    isSettled = probe?.isOver() ?? false;
  }
  const left = isSettled ? undefined : unsettled(product);
  return {
    violation:
      product.violation() ??
      (isSettled
        ? undefined
        : new Violation(
            "everything ends",
            left ?? `it is not idle after ${happenings} happenings`,
          )),
    faults: product.faults.happened,
    happenings,
    attempts: product.attempts.all().length,
    deliveries: product.database.tables.deliveries.size,
  };
}

/** Whether all has ended but for what a frozen fault holds. */
function isSettledBeside(product: Product): boolean {
  return product.isIdle(product.isFrozen) && unsettled(product) === undefined;
}

/** How long nothing happens, in milliseconds: pollers would look in vain, so time goes on at once. */
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

/** Tells what has not ended. */
function unsettled({ database, unrecorded, isFrozen }: Product): string | undefined {
  const { deliveries, entries } = database.tables;
  for (const { deliveryId, endpointId } of entries.values()) {
    if (!isFrozen(endpointId)) return `an entry is left of ${deliveryId}`;
  }
  for (const { id, endpointId, state, run, attempts } of deliveries.values()) {
    if (RUNNING_STATES.includes(state) && !isFrozen(endpointId))
      return `${id} is in state ${state}, run ${run}, ${attempts}`;
  }
  const one = unrecorded().find(({ endpointId }) => !isFrozen(endpointId));
  return one && `attempt ${one.attempt} of ${one.deliveryId} run ${one.run} is not recorded`;
}
