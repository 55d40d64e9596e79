import { isOfWorkflow } from "./attempts.ts";
import type { Product } from "./product.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/** After this time each stopped process runs again. */
const ALL_ARE_BACK_MS = 3 * MINUTE_MS;
/** After this time each call whose answer was lost has ended. */
const CALLS_ARE_OVER_MS = MINUTE_MS;
/** The time limit of "at once": much shorter than pollers wait without a notification. */
const AT_ONCE_MS = SECOND_MS;
/** "At once" beside a dispatcher that is cut off: it can lease an attempt more than once before another gets it. */
const BESIDE_CUT_MS = MINUTE_MS;
/** How many events an endpoint that hangs gets, while others are checked. */
const CROWD = 80;
const RETRY_MS = MINUTE_MS;
/** The time until another dispatcher has made the attempts: a lease of 14 seconds, a sweep after five, and a claim. */
const TAKEN_OVER_MS = 20 * SECOND_MS;

export type Probe = ReturnType<typeof startProbe>;

/** Has each owner write an event and retry a failed one after all has healed. Each attempt must be sent in time. */
export function startProbe(product: Product) {
  const { world, network, attempts, accounts, ownerOf, isFrozen, isCut, broken } = product;
  const { dispatchers } = product;
  const { deliveries, endpoints } = product.database.tables;
  const firstWithinMs = isCut ? BESIDE_CUT_MS : AT_ONCE_MS;
  let [isAwake, isOver] = [false, false];

  const present = () => [...endpoints.values()].filter(({ deletedAt }) => deletedAt === null);
  const watched = () => present().filter(({ id }) => !isFrozen(id));

  function checkSent(rule: string, ids: readonly string[], run: number, attempt: number): void {
    for (const deliveryId of ids) {
      const made = attempts.of({ deliveryId, run, attempt });
      if (made.some(({ postedMs }) => postedMs !== undefined)) continue;
      broken(rule, `${deliveryId} run ${run} attempt ${attempt}, at ${world.nowMs()}`);
    }
  }

  async function allowAll(): Promise<void> {
    product.forbidden.clear();
    for (const account of accounts) await ownerOf(account).unblock();
    for (const endpoint of present()) await ownerOf(endpoint).switchOn(endpoint.id);
  }

  async function crowd(): Promise<void> {
    const records = Array.from({ length: CROWD }, (_, number) => `crowd ${number}`);
    for (const endpoint of present()) {
      if (isFrozen(endpoint.id)) await ownerOf(endpoint).donate(records);
    }
    await world.wait(AT_ONCE_MS);
  }

  /** Kills one of two dispatchers while its attempts hang. The other one must make them again. */
  async function killOne(): Promise<void> {
    for (const { id } of watched()) network.behave(id, "hangs");
    for (const account of accounts) await ownerOf(account).donate([`kill ${world.nowMs()}`]);
    await world.wait(AT_ONCE_MS);
    const firsts = [...attempts.inFlight].filter(
      (one) => !isOfWorkflow(one) && !isFrozen(one.endpointId),
    );
    const killed = firsts[0]?.process;
    killed?.kill();
    const killedMs = world.nowMs();
    await world.wait(TAKEN_OVER_MS);
    for (const one of firsts.filter(({ process }) => process === killed)) {
      if (attempts.of(one).some(({ beganMs }) => beganMs > killedMs)) continue;
      const what = `${one.deliveryId} of ${killed?.name}, killed at ${killedMs}`;
      broken("another dispatcher makes the attempts of one that died", what);
    }
  }

  async function probe(): Promise<void> {
    await world.wait(ALL_ARE_BACK_MS);
    isAwake = true;
    await allowAll();
    await world.wait(CALLS_ARE_OVER_MS);
    await crowd();
    const ids = watched().map(({ id }) => id);
    const busy = new Set(ids.filter((_, place) => place % 2 === 0));
    for (const id of ids) network.behave(id, busy.has(id) ? "is busy" : "refuses");
    const before = new Set(deliveries.keys());
    for (const account of accounts) await ownerOf(account).donate([`probe ${world.nowMs()}`]);
    const fresh = [...deliveries.values()].filter(
      ({ deliveryId, endpointId }) => !before.has(deliveryId) && !isFrozen(endpointId),
    );
    const retried = fresh.filter(({ endpointId }) => busy.has(endpointId));
    const refused = fresh.filter(({ endpointId }) => !busy.has(endpointId));
    const idsOf = (rows: typeof fresh) => rows.map(({ deliveryId }) => deliveryId);
    await world.wait(firstWithinMs);
    checkSent("a new event is sent at once", idsOf([...retried, ...refused]), 1, 1);
    for (const { id } of watched()) network.behave(id, "answers");
    for (const row of refused) await ownerOf(row).retry(row.deliveryId);
    await world.wait(firstWithinMs);
    checkSent("a manual retry is sent at once", idsOf(refused), 2, 1);
    await world.wait(RETRY_MS);
    checkSent("a retry is sent once it is due", idsOf(retried), 1, 2);
    if (dispatchers.length > 1 && !isCut) await killOne();
  }

  probe()
    .catch((error: unknown) => broken("an owner can write", String(error)))
    .finally(() => {
      isOver = true;
    });
  return {
    /** Whether the probe checks attempts now. Meanwhile the simulation skips no time of processes. */
    isAwake: () => isAwake,
    isOver: () => isOver,
  };
}
