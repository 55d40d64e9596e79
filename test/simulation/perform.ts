import { type Account, createOwner, type Owner } from "./owner.ts";
import type { Product } from "./product.ts";
import type { Action } from "./scenario.ts";

/** A write whose answer was lost may take effect later. */
const TAKES_EFFECT_WITHIN_MS = 60_000;

/** Does what an action says; what a fault hinders is not done again. */
export function perform(product: Product, action: Action): void {
  switch (action.kind) {
    case "donate":
    case "switch off":
    case "switch on":
    case "rotate":
    case "remove":
    case "block":
    case "unblock":
    case "erase":
    case "retry":
    case "retry all":
      write(product, action);
      break;
    case "behave":
      product.network.behave(product.endpoints[action.endpoint]?.id ?? "", action.behaviour);
      break;
    case "forget": {
      const ids = product.temporal.runningIds();
      product.forgetWorkflow(ids[action.pick % Math.max(1, ids.length)] ?? "");
      break;
    }
    case "step clock":
      product.database.setClock(action.toMs);
      break;
    case "back up":
      product.backUp();
      break;
    case "restore":
      product.restore();
      break;
    case "stop dispatcher":
      product.dispatchers[action.dispatcher]?.stop().then(() => {
        product.world.after(action.forMs, () => product.startDispatcher(action.dispatcher));
      });
      break;
    default: {
      const end = begin(product, action);
      product.world.after(action.forMs, end);
    }
  }
}

/** Begins what lasts for a time, and returns how it ends. */
function begin(
  product: Product,
  action: Exclude<Extract<Action, { readonly forMs: number }>, { kind: "stop dispatcher" }>,
): () => void {
  const { database, temporal } = product;
  switch (action.kind) {
    case "kill dispatcher":
      product.dispatchers[action.dispatcher]?.process.kill();
      return () => product.startDispatcher(action.dispatcher);
    case "kill core":
      product.core()?.process.kill();
      return product.startCore;
    case "cut there":
    case "cut back": {
      const cut = product.cuts[action.dispatcher];
      const field = action.kind === "cut there" ? "isCutThere" : "isCutBack";
      const set = (is: boolean) => cut && Object.assign(cut, { [field]: is });
      set(true);
      return () => set(false);
    }
    case "lag": {
      const cut = product.cuts[action.dispatcher];
      const set = (lagMs: number) => cut && Object.assign(cut, { lagMs });
      set(action.lagMs);
      return () => set(0);
    }
    case "read-only":
      database.setReadOnly(true);
      return () => database.setReadOnly(false);
    case "database away":
      database.setAway(true);
      return () => database.setAway(false);
    case "Temporal away":
      temporal.setAway(true);
      return () => temporal.setAway(false);
    case "refuse": {
      const ids = [...database.tables.deliveries.keys()];
      const id = ids[action.pick % Math.max(1, ids.length)] ?? "";
      database.tables.refused.add(id);
      return () => database.tables.refused.delete(id);
    }
    default:
      throw new Error("nothing lasts for a time");
  }
}

type Written = Extract<
  Action,
  | { kind: "donate" | "block" | "unblock" | "retry all" | "erase" | "retry" }
  | { kind: "switch off" | "switch on" | "rotate" | "remove" }
>;

/** Has an owner write through the core that is there; what its answer forbids is forbidden from then on. */
function write(product: Product, action: Written): void {
  const { world, database, forbidden, allowing, endpoints, accounts } = product;
  const { deliveries, events } = database.tables;
  const askedMs = world.nowMs();
  /** Not while a write that allows it again may take effect behind this one. */
  const forbid = (...names: readonly string[]) => {
    for (const name of names) {
      const isOpen = (allowing.get(name) ?? []).some(({ untilMs }) => untilMs >= askedMs);
      if (!isOpen) forbidden.set(name, world.nowMs());
    }
  };
  const allow = async (name: string, work: () => Promise<void>) => {
    forbidden.delete(name);
    const open = { untilMs: Infinity };
    allowing.set(name, [...(allowing.get(name) ?? []), open]);
    await work().catch(() => world.wait(TAKES_EFFECT_WITHIN_MS));
    open.untilMs = world.nowMs();
  };
  const ask = async (account: Account | undefined, work: (owner: Owner) => Promise<unknown>) => {
    const core = product.core();
    if (core === undefined || account === undefined) throw new Error("nobody answers");
    await work(createOwner(account, { ...core, noteWritten: product.noteLoad }));
  };

  async function writeOf(): Promise<void> {
    if ("endpoint" in action) {
      const { id, account } = endpoints[action.endpoint] ?? { id: "", account: undefined };
      switch (action.kind) {
        case "switch off":
          await ask(account, (owner) => owner.switchOff(id));
          return forbid(id);
        case "switch on":
          return allow(id, () => ask(account, (owner) => owner.switchOn(id)));
        case "rotate":
          return ask(account, (owner) => owner.rotate(id, product.makeSecret(id, world.nowMs())));
        case "remove":
          await ask(account, (owner) => owner.remove(id));
          return forbid(`${id} removed`);
      }
    }
    if ("account" in action) {
      const account = accounts[action.account];
      const name = `account ${account?.accountNo}`;
      const own = [...deliveries.values()].filter((row) => row.accountNo === account?.accountNo);
      switch (action.kind) {
        case "donate": {
          const numbers = Array.from({ length: action.events }, (_, number) => number);
          const records = numbers.map((number) => `${world.nowMs()} ${number}`);
          return ask(account, (owner) => owner.donate(records));
        }
        case "block":
          await ask(account, (owner) => owner.block());
          return forbid(name);
        case "unblock":
          return allow(name, () => ask(account, (owner) => owner.unblock()));
        case "retry all":
          return ask(account, (owner) => owner.retryAll(own.map(({ id }) => id)));
      }
    }
    const rows = [...deliveries.values()];
    const row = rows[action.pick % Math.max(1, rows.length)];
    const account = accounts.find(({ accountNo }) => accountNo === row?.accountNo);
    if (row === undefined) return undefined;
    if (action.kind === "retry") return ask(account, (owner) => owner.retry(row.id));
    const recordId = events.get(row.eventId)?.recordId ?? "";
    await ask(account, (owner) => owner.erase(recordId));
    const told = rows.filter(({ eventId }) => events.get(eventId)?.recordId === recordId);
    return forbid(...told.map(({ id }) => id));
  }

  writeOf().catch(() => undefined);
}
