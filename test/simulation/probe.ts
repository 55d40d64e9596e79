import { createOwner, type Owner } from "./owner.ts";
import type { Product } from "./product.ts";
import { Violation } from "./safety.ts";

/** What a product that has healed is asked for. */
export type Probe = {
  /** Whether processes are being watched: then their time is not skipped. */
  isAwake(): boolean;
  isOver(): boolean;
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/** By then each process that was stopped is back. */
const ALL_ARE_BACK_MS = 3 * MINUTE_MS;
/** By then each call is over whose answer was lost. */
const CALLS_ARE_OVER_MS = MINUTE_MS;
/** Far less than pollers wait when they are not notified. */
const AT_ONCE_MS = SECOND_MS;
/** One of two dispatchers may be leased an attempt of which it does not hear, more than once. */
const BESIDE_CUT_MS = MINUTE_MS;
/** In flight at an endpoint that hangs, while others are watched. */
const CROWD = 80;
const RETRY_MS = MINUTE_MS;

/** Has each owner write an event, retry one that failed, and wait for a retry; each must be sent in time. */
export function startProbe(product: Product): Probe {
  const { world, network, accounts, attempts, isFrozen, isCut, broken } = product;
  const { deliveries, endpoints } = product.database.tables;
  const firstWithinMs = isCut ? BESIDE_CUT_MS : AT_ONCE_MS;
  let [isAwake, isOver] = [false, false];

  const owners = accounts.map((account) => {
    const core = product.core();
    if (core === undefined) throw new Error("nobody answers");
    return createOwner(account, { ...core, noteWritten: product.noteLoad });
  });
  const ownerOf = (accountNo: number) => owners[accountNo - 1] as Owner;
  const present = () => [...endpoints.values()].filter(({ deletedAt }) => deletedAt === null);
  const watched = () => present().filter(({ id }) => !isFrozen(id));

  function checkSent(rule: string, ids: readonly string[], run: number, attempt: number): void {
    for (const id of ids) {
      if (attempts.of(id, run, attempt).some(({ postedMs }) => postedMs !== undefined)) continue;
      broken(new Violation(rule, `${id} run ${run} attempt ${attempt}, at ${world.nowMs()}`));
    }
  }

  async function allowAll(): Promise<void> {
    product.forbidden.clear();
    for (const owner of owners) await owner.unblock();
    for (const { id, accountNo } of present()) await ownerOf(accountNo).switchOn(id);
  }

  async function crowd(): Promise<void> {
    const records = Array.from({ length: CROWD }, (_, number) => `crowd ${number}`);
    for (const { accountNo } of present().filter(({ id }) => isFrozen(id))) {
      await ownerOf(accountNo).donate(records);
    }
    await world.wait(AT_ONCE_MS);
  }

  async function probe(): Promise<void> {
    await world.wait(ALL_ARE_BACK_MS);
    isAwake = true;
    await allowAll();
    await world.wait(CALLS_ARE_OVER_MS);
    await crowd();
    const busy = new Set(
      watched()
        .map(({ id }) => id)
        .filter((_, place) => place % 2 === 0),
    );
    for (const { id } of watched()) network.behave(id, busy.has(id) ? "is busy" : "refuses");
    const before = new Set(deliveries.keys());
    for (const owner of owners) await owner.donate([`probe ${world.nowMs()}`]);
    const fresh = [...deliveries.values()].filter(
      ({ id, endpointId }) => !before.has(id) && !isFrozen(endpointId),
    );
    const idsOf = (isBusy: boolean) =>
      fresh.filter(({ endpointId }) => busy.has(endpointId) === isBusy).map(({ id }) => id);
    await world.wait(firstWithinMs);
    checkSent("a new event is sent at once", [...idsOf(true), ...idsOf(false)], 1, 1);
    for (const { id } of watched()) network.behave(id, "answers");
    for (const { id, accountNo } of fresh)
      if (idsOf(false).includes(id)) await ownerOf(accountNo).retry(id);
    await world.wait(firstWithinMs);
    checkSent("a manual retry is sent at once", idsOf(false), 2, 1);
    await world.wait(RETRY_MS);
    checkSent("a retry is sent once it is due", idsOf(true), 1, 2);
  }

  probe()
    .catch((error: unknown) => broken(new Violation("an owner can write", String(error))))
    .finally(() => {
      isOver = true;
    });
  return { isAwake: () => isAwake, isOver: () => isOver };
}
