import type { AttemptContent } from "../../server/src/dispatch/claim-store.ts";
import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import type { DispatchStore } from "../../server/src/dispatch/dispatch-store.ts";
import { Task } from "../../server/src/dispatch/outbox-store.ts";
import type { DeliveryKey, RunKey } from "../../server/src/dispatch/run-key.ts";
import { applyChanges } from "./memory-changes.ts";
import type { Holder, Session } from "./memory-locks.ts";
import { type DeliveryRow, type EntryRow, isRunning, type Tables } from "./memory-tables.ts";

/** The way to the database. What is asked takes effect at one moment, or never; the answer may be lost. */
export type Link = <Result>(
  call: { readonly name: string; readonly isWrite: boolean },
  ask: () => Result,
) => Promise<Result>;

/** Creates the store on tables in memory: what `sql-dispatch-store.ts` does, statement by statement. */
export function createMemoryStore(
  tables: Tables,
  link: Link,
  session: Session = { isOver: false },
): DispatchStore {
  const { accounts, endpoints, events, deliveries, attempts, entries, locks, nowMicros } = tables;
  const read = <Result>(name: string, ask: () => Result) => link({ name, isWrite: false }, ask);
  const write = <Result>(name: string, ask: () => Result) => link({ name, isWrite: true }, ask);

  const entriesOf = (keys: readonly DeliveryKey[]) =>
    keys.flatMap(({ deliveryId }) => entries.get(deliveryId) ?? []);

  /** Writes rows once nobody else has locked them. */
  async function whenFree(name: string, ids: readonly string[], ask: () => void): Promise<void> {
    for (;;) {
      const isDone = await write(name, () => {
        if (locks.isHeld(ids)) return false;
        ask();
        return true;
      });
      if (isDone) return;
      await locks.released();
    }
  }

  function contentOf(
    delivery: DeliveryRow | undefined,
    entry: Pick<EntryRow, "endpointId"> & { readonly leasedUntil?: number | null },
  ): AttemptContent | undefined {
    const endpoint = endpoints.get(entry.endpointId);
    const payload = delivery && events.get(delivery.eventId)?.payload;
    if (delivery === undefined || endpoint === undefined || !payload) return undefined;
    const isBlocked = accounts.get(endpoint.accountNo)?.blockedAt !== null;
    if (isBlocked || !endpoint.switchedOn || endpoint.deletedAt !== null) return undefined;
    const { id: endpointId, url, secret, standardWebhooks } = endpoint;
    const content = { endpointId, url, secret, standardWebhooks, eventId: delivery.eventId };
    // Each load has bytes of its own, so that a POST tells when its content was read.
    const loaded: AttemptContent = { ...content, payload: Buffer.from(payload) };
    tables.watcher.onLoad?.(loaded.payload, endpoint, entry.leasedUntil ?? null);
    return loaded;
  }

  const leasedOf = ({ accountNo, deliveryId, run }: EntryRow) => ({
    ...{ accountNo, deliveryId, run },
    isRunning: isRunning(deliveries.get(deliveryId), run),
  });

  return {
    readInstallationId: () => read("readInstallationId", () => "0123456789ab"),

    listClaimable: (task, { accountNo, endpointId }, limit) =>
      read("listClaimable", () =>
        [...entries.values()]
          .filter(
            (entry) =>
              entry.task === task &&
              (entry.accountNo > accountNo ||
                (entry.accountNo === accountNo && entry.endpointId > endpointId)) &&
              !tables.isLeased(entry.leasedUntil),
          )
          .sort(inQueueOrder)
          .slice(0, limit)
          .map((entry) => ({
            ...{ accountNo: entry.accountNo, endpointId: entry.endpointId },
            deliveryId: entry.deliveryId,
          })),
      ),

    countLeased: (task, queues) =>
      read("countLeased", () => {
        const asked = new Set(queues.map((queue) => queue.endpointId));
        const leased = [...entries.values()].filter(
          (entry) =>
            entry.task === task &&
            asked.has(entry.endpointId) &&
            tables.isLeased(entry.leasedUntil),
        );
        const byEndpoint = Map.groupBy(leased, (entry) => entry.endpointId);
        return new Map([...byEndpoint].map(([id, of]) => [id, of.length]));
      }),

    leaseEntries: (task, keys, leaseId) =>
      write("leaseEntries", () => {
        for (const entry of entriesOf(keys)) {
          const isFree = entry.task === task && !tables.isLeased(entry.leasedUntil);
          if (isFree) tables.lease(entry, leaseId);
        }
      }),

    releaseEntries: (keys, leaseId) =>
      write("releaseEntries", () => {
        for (const entry of entriesOf(keys)) {
          if (entry.leaseId === leaseId) entry.leasedUntil = null;
        }
      }),

    loadLeasedAttempts: (keys, leaseId) =>
      read("loadLeasedAttempts", () =>
        entriesOf(keys)
          .filter((entry) => entry.leaseId === leaseId)
          .map((entry) => ({
            ...leasedOf(entry),
            content: contentOf(deliveries.get(entry.deliveryId), entry),
          })),
      ),

    loadLeasedRetries: (keys, leaseId) =>
      read("loadLeasedRetries", () =>
        entriesOf(keys)
          .filter((entry) => entry.leaseId === leaseId)
          .map((entry) => {
            const dueAt = deliveries.get(entry.deliveryId)?.nextAttemptAt ?? 0;
            return { ...leasedOf(entry), dueInMicros: Math.max(0, dueAt - nowMicros()) };
          }),
      ),

    listAttemptsOfRuns: (runs) =>
      read("listAttemptsOfRuns", () => {
        const asked = new Set(runs.map(({ deliveryId, run }) => `${deliveryId} ${run}`));
        return [...attempts.values()]
          .filter(({ deliveryId, run }) => asked.has(`${deliveryId} ${run}`))
          .sort((one, other) => one.attempt - other.attempt)
          .map(({ accountNo, deliveryId, outcome, startedAt, durationMicros }) => {
            const endedAt = Number(startedAt) + durationMicros;
            return { accountNo, deliveryId, outcome, endedAt };
          });
      }),

    findAttempt: ({ deliveryId, run }, attempt) =>
      read("findAttempt", () => {
        const delivery = deliveries.get(deliveryId);
        if (delivery === undefined) return undefined;
        const past = attempts.get(`${deliveryId} ${run} ${attempt}`);
        const { nextAttemptAt } = delivery;
        return {
          isRunning: isRunning(delivery, run),
          isAhead: delivery.run < run,
          recorded: past && {
            outcome: past.outcome,
            endedAt: Number(past.startedAt) + past.durationMicros,
          },
          retryInMicros:
            nextAttemptAt === null ? undefined : Math.max(0, nextAttemptAt - nowMicros()),
          content: contentOf(delivery, delivery),
        };
      }),

    // No account is deleted here.
    isAccountDeleted: () => read("isAccountDeleted", () => false),

    rescheduleAttempt: ({ deliveryId, run }, attempt, waitMicros) =>
      whenFree("rescheduleAttempt", [deliveryId], () => {
        const delivery = deliveries.get(deliveryId);
        if (delivery === undefined || !isRunning(delivery, run)) return;
        if (delivery.attempts < attempt) delivery.nextAttemptAt = nowMicros() + waitMicros;
      }),

    listPresent: (keys) =>
      read("listPresent", () => keys.filter(({ deliveryId }) => deliveries.has(deliveryId))),

    change: (changes) =>
      whenFree("change", idsOf(changes.canceled), () => applyChanges(tables, changes)),

    async changeFree(keys, decide) {
      const holder: Holder = { session, isOver: false };
      const isOver = () => holder.isOver || session.isOver;
      try {
        const free = await write("lockFree", () => {
          if (isOver()) return [];
          const ids = keys.map(({ deliveryId }) => deliveryId);
          return locks
            .takeFree(ids, holder)
            .flatMap((id) => deliveries.get(id) ?? [])
            .map(({ accountNo, id, endpointId, run, state, attempts }) => ({
              ...{ accountNo, deliveryId: id, endpointId, run, state, attempts },
            }));
        });
        const { changes, result } = decide(free);
        await write("commit", () => {
          if (isOver()) return;
          applyChanges(tables, changes);
          locks.release(holder);
        });
        return result;
      } finally {
        // A connection that is lost gives back what it had locked.
        locks.release(holder);
      }
    },

    resumeOverdue: (overdueMicros, limit) =>
      write("resumeOverdue", () => {
        const overdue = [...deliveries.values()]
          .filter(
            ({ id, state, nextAttemptAt }) =>
              state === DeliveryState.Retrying &&
              nextAttemptAt !== null &&
              nextAttemptAt < nowMicros() - overdueMicros &&
              !locks.isHeld([id]),
          )
          .sort((one, other) => (one.nextAttemptAt ?? 0) - (other.nextAttemptAt ?? 0))
          .slice(0, limit);
        for (const delivery of overdue) {
          const { accountNo, id: deliveryId, endpointId, run } = delivery;
          const entry = { accountNo, deliveryId, endpointId, run, task: Task.BeginRetries };
          tables.putEntry({ ...entry, leaseId: null, leasedUntil: null });
          delivery.nextAttemptAt = nowMicros();
        }
        return overdue.length;
      }),
  };
}

/** In each queue first what lost leases gave back, then the oldest. */
function inQueueOrder(one: EntryRow, other: EntryRow): number {
  if (one.accountNo !== other.accountNo) return one.accountNo - other.accountNo;
  if (one.endpointId !== other.endpointId) return one.endpointId < other.endpointId ? -1 : 1;
  const [a, b] = [one.leasedUntil ?? -1, other.leasedUntil ?? -1];
  if (a !== b) return b - a;
  return one.deliveryId < other.deliveryId ? -1 : 1;
}

function idsOf(runs: readonly RunKey[] = []): string[] {
  return runs.map(({ deliveryId }) => deliveryId);
}
