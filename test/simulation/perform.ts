import { retryAll } from "./bulk-retry.ts";
import { UnknownStatement } from "./memory-packets.ts";
import type { Owner } from "./owner.ts";
import type { Product } from "./product.ts";
import type { Action, OwnerWrite } from "./scenario.ts";

/** A write whose answer was lost takes effect within this time, or never. */
const TAKES_EFFECT_WITHIN_MS = 60_000;

/** Performs an action. Of actions that a fault prevents, only a bulk retry is repeated. */
export function perform(product: Product, action: Action): unknown {
  const { world, faults, database, temporal, network, endpoints, dispatchers, cuts } = product;
  /** Begins a fault, and ends it after a time. */
  const during = (forMs: number, set: (is: boolean) => unknown) => {
    set(true);
    world.after(forMs, () => set(false));
  };
  /** Like `during`, for a fault that excuses a second POST. */
  const hinder = (forMs: number, set: (is: boolean) => unknown) =>
    during(forMs, (is) => {
      set(is);
      faults.note();
    });
  switch (action.kind) {
    case "behave":
      return network.behave(endpoints[action.endpoint]?.id ?? "", action.behaviour);
    case "forget":
      return product.forgetWorkflow(pickFrom(temporal.runningIds(), action.pick) ?? "");
    case "step clock":
      return database.setClock(action.toMs);
    case "back up":
      return product.backUp();
    case "restore":
      return product.restore();
    case "stop dispatcher":
      return dispatchers[action.dispatcher]?.stop().then(() => {
        world.after(action.forMs, () => product.startDispatcher(action.dispatcher));
      });
    case "kill dispatcher":
      dispatchers[action.dispatcher]?.process.kill();
      return world.after(action.forMs, () => product.startDispatcher(action.dispatcher));
    case "kill core":
      product.core()?.process.kill();
      return world.after(action.forMs, product.startCore);
    case "cut there":
    case "cut back":
    case "lag": {
      const { kind } = action;
      const cut = cuts[action.dispatcher];
      if (cut === undefined) return undefined;
      return hinder(action.forMs, (is) =>
        Object.assign(cut, kind === "lag" ? { lagMs: is ? action.lagMs : 0 } : { [kind]: is }),
      );
    }
    case "read-only":
      return during(action.forMs, database.setReadOnly);
    case "database away":
      return during(action.forMs, database.setAway);
    case "Temporal away":
      return during(action.forMs, temporal.setAway);
    case "refuse": {
      const { deliveries, refused } = database.tables;
      const id = pickFrom([...deliveries.keys()], action.pick) ?? "";
      return hinder(action.forMs, (is) => (is ? refused.add(id) : refused.delete(id)));
    }
    default:
      return write(product, action).catch((error: unknown) => {
        if (!(error instanceof UnknownStatement)) return;
        product.broken("the simulation knows each statement", error.message);
      });
  }
}

/** Makes an owner's write through the living core. After the answer, nothing that the write forbids may be sent. */
async function write(product: Product, action: OwnerWrite): Promise<void> {
  const { world, database, forbidden, allowing, endpoints } = product;
  const { deliveries, events } = database.tables;
  const rows = [...deliveries.values()];
  const row = "pick" in action ? pickFrom(rows, action.pick) : undefined;
  const endpoint = "endpoint" in action ? endpoints[action.endpoint] : undefined;
  const accountNo =
    "account" in action ? action.account + 1 : (endpoint?.accountNo ?? row?.accountNo);
  if (accountNo === undefined) return;
  const endpointId = endpoint?.id ?? "";
  const accountName = `account ${accountNo}`;
  const askedMs = world.nowMs();

  const ask = async (work: (owner: Owner) => Promise<unknown>) => {
    await work(product.ownerOf({ accountNo }));
  };
  /** Writes, then forbids each name, unless a write that allows the name may take effect later. */
  const forbid = async (names: readonly string[], work: (owner: Owner) => Promise<unknown>) => {
    await ask(work);
    for (const name of names) {
      const isOpen = (allowing.get(name) ?? []).some(({ untilMs }) => untilMs >= askedMs);
      if (!isOpen) forbidden.set(name, world.nowMs());
    }
  };
  const allow = async (name: string, work: (owner: Owner) => Promise<unknown>) => {
    forbidden.delete(name);
    const open = { untilMs: Infinity };
    allowing.set(name, [...(allowing.get(name) ?? []), open]);
    await ask(work).catch(() => world.wait(TAKES_EFFECT_WITHIN_MS));
    open.untilMs = world.nowMs();
  };

  switch (action.kind) {
    case "donate": {
      const numbers = Array.from({ length: action.events }, (_, number) => number);
      return ask((owner) => owner.donate(numbers.map((number) => `${askedMs} ${number}`)));
    }
    case "switch off":
      return forbid([endpointId], (owner) => owner.switchOff(endpointId));
    case "switch on":
      return allow(endpointId, (owner) => owner.switchOn(endpointId));
    case "rotate":
      return ask((owner) => owner.rotate(endpointId, product.makeSecret(endpointId, askedMs)));
    case "remove":
      return forbid([`${endpointId} removed`], (owner) => owner.remove(endpointId));
    case "block":
      return forbid([accountName], (owner) => owner.block());
    case "unblock":
      return allow(accountName, (owner) => owner.unblock());
    case "retry all":
      // Asks twice, as an owner's double click does.
      await Promise.all([retryAll(product, accountNo), retryAll(product, accountNo)]);
      return;
    case "retry":
      return ask((owner) => owner.retry(row?.deliveryId ?? ""));
    case "erase": {
      const recordOf = ({ eventId }: { eventId: string }) => events.get(eventId)?.recordId;
      const recordId = (row && recordOf(row)) ?? "";
      const told = rows.filter((each) => recordOf(each) === recordId);
      return forbid(
        told.map((each) => each.deliveryId),
        (owner) => owner.erase(recordId),
      );
    }
  }
}

/** Returns the item at `pick`, modulo the length of the list. */
function pickFrom<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items[pick % Math.max(1, items.length)];
}
