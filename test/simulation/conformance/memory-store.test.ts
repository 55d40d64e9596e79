import { PROCESS_TIMING } from "@activity/runtime/timing";
import { leastIdAt } from "../../../server/src/common/ids.ts";
import { createOutbox } from "../../../server/src/dispatch/outbox.ts";
import type { Link } from "../memory-locks.ts";
import { createMemoryPackets } from "../memory-packets.ts";
import { createMemoryPool } from "../memory-pool.ts";
import { createMemoryStore } from "../memory-store.ts";
import { createTables } from "../memory-tables.ts";
import { exerciseDispatchStore } from "./exercise-dispatch-store.ts";

exerciseDispatchStore("in memory", async () => {
  let passedMs = 0;
  let last = 0;
  /** Returns a later time on each call. */
  function nowMicros(): number {
    last = Math.max(last + 1, Math.floor((performance.timeOrigin + performance.now()) * 1000));
    return last + passedMs * 1000;
  }
  const tables = createTables(nowMicros);
  const direct: Link = async (_call, work) => work();
  const session = { isOver: false };
  let accounts = 0;
  return {
    store: createMemoryStore(tables, direct, session),
    packets: createMemoryPackets(tables, direct, session),
    pool: createMemoryPool(tables, direct, () => () => undefined),
    outbox: createOutbox(PROCESS_TIMING),
    async createAccount(count) {
      accounts += 1;
      const [accountNo, id] = [10 * accounts, leastIdAt(10 * accounts)];
      tables.accounts.set(accountNo, { accountNo, id, blockedAt: null, feedChangedAt: 0 });
      const endpointIds = Array.from({ length: count }, (_, number) =>
        `endpoint${accounts}x${number}`.padEnd(15, "0"),
      );
      for (const id of endpointIds) {
        tables.endpoints.set(id, {
          ...{ accountNo, id, url: "https://example.com/hook", secret: Buffer.from("a secret") },
          ...{ switchedOn: true, deletedAt: null },
        });
      }
      return { accountNo, accountId: id, endpointIds };
    },
    async pass(milliseconds) {
      passedMs += milliseconds;
    },
    async read(deliveryId) {
      const row = tables.deliveries.get(deliveryId);
      if (row === undefined) throw new Error("there is no such delivery");
      const { state, run, attempts, lastOutcome, nextAttemptAt } = row;
      const dueInMs = nextAttemptAt === null ? undefined : (nextAttemptAt - nowMicros()) / 1000;
      return { state, run, attempts, lastOutcome: lastOutcome ?? undefined, dueInMs };
    },
    async deliveriesOf(_accountNo, endpointId) {
      const rows = [...tables.deliveries.values()].filter((row) => row.endpointId === endpointId);
      return rows.map(({ deliveryId }) => deliveryId).sort();
    },
    async whileLocked(deliveryId, work) {
      const transaction = { session, isOver: false };
      tables.locks.takeFree([deliveryId], transaction);
      try {
        return await work();
      } finally {
        tables.locks.end(transaction);
      }
    },
    restored: async () => tables.backUp()(),
    async clear() {
      tables.deliveries.clear();
      tables.entries.clear();
    },
    stop: async () => undefined,
  };
});
