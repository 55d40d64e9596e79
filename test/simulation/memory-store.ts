import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import type { DispatchStore } from "../../server/src/dispatch/dispatch-store.ts";
import { LEASE_MICROS, Task } from "../../server/src/dispatch/outbox-store.ts";
import type { NewAttempt } from "../../server/src/dispatch/record-store.ts";
import type { DeliveryKey } from "../../server/src/dispatch/run-key.ts";
import { keyOf } from "./attempts.ts";
import { applyChanges } from "./memory-changes.ts";
import { isOver, type Link, type Session, type Transaction } from "./memory-locks.ts";
import { type DeliveryRow, type EntryRow, isRunning, type Tables } from "./memory-tables.ts";

/** Creates the dispatch store on tables in memory. Each function does what the statements of the same name do. */
export function createMemoryStore(tables: Tables, link: Link, session: Session): DispatchStore {
  const { accounts, endpoints, events, deliveries, attempts, entries, locks, nowMicros } = tables;
  const read = <Result>(name: string, work: () => Result) => link({ name, isWrite: false }, work);
  const write = <Result>(name: string, work: () => Result) => link({ name, isWrite: true }, work);

  const entriesOf = (keys: readonly DeliveryKey[]) =>
    keys.flatMap(({ deliveryId }) => entries.get(deliveryId) ?? []);
  const isLeased = (entry: EntryRow) => tables.isLeased(entry.leasedUntil);
  const inMicros = (at: number | null) => Math.max(0, (at ?? 0) - nowMicros());

  function contentOf(delivery: DeliveryRow | undefined, leasedUntil: number | null) {
    const endpoint = endpoints.get(delivery?.endpointId ?? "");
    const payload = delivery && events.get(delivery.eventId)?.payload;
    if (delivery === undefined || endpoint === undefined || !payload) return undefined;
    const isBlocked = accounts.get(endpoint.accountNo)?.blockedAt !== null;
    if (isBlocked || !endpoint.switchedOn || endpoint.deletedAt !== null) {
      tables.watcher.onNotSendable?.(delivery);
      return undefined;
    }
    const { id: endpointId, url, secret } = endpoint;
    // Each load has its own copy of the payload, so that a POST tells when its content was loaded.
    const loaded = Buffer.from(payload);
    tables.watcher.onLoad?.(loaded, endpoint, leasedUntil);
    const content = { endpointId, url, secret, eventId: delivery.eventId, payload: loaded };
    return { ...content, standardWebhooks: false };
  }

  const leasedOf = ({ accountNo, deliveryId, run }: EntryRow) => ({
    ...{ accountNo, deliveryId, run },
    isRunning: isRunning(deliveries.get(deliveryId), run),
  });

  return {
    readInstallationId: () => read("readInstallationId", () => "0123456789ab"),

    listClaimable: (task, { accountNo, endpointId }, limit, includeEnded) =>
      read("listClaimable", () => {
        const isAfter = (entry: EntryRow) =>
          entry.accountNo > accountNo ||
          (entry.accountNo === accountNo && entry.endpointId > endpointId);
        const found = [...entries.values()].filter(
          (entry) =>
            entry.task === task &&
            isAfter(entry) &&
            (includeEnded ? !isLeased(entry) : entry.leasedUntil === null),
        );
        return found
          .sort(inQueueOrder)
          .slice(0, limit)
          .map(({ accountNo, endpointId, deliveryId }) => ({ accountNo, endpointId, deliveryId }));
      }),

    countLeased: (task, queues) =>
      read("countLeased", () => {
        const asked = new Set(queues.map((queue) => queue.endpointId));
        const leased = [...entries.values()].filter(
          (entry) => entry.task === task && asked.has(entry.endpointId) && isLeased(entry),
        );
        const byEndpoint = Map.groupBy(leased, (entry) => entry.endpointId);
        return new Map([...byEndpoint].map(([id, of]) => [id, of.length]));
      }),

    leaseEntries: (task, keys, leaseId) =>
      write("leaseEntries", () => {
        for (const entry of entriesOf(keys)) {
          if (entry.task === task && !isLeased(entry)) tables.lease(entry, leaseId);
        }
      }),

    releaseEntries: (keys, leaseId) =>
      write("releaseEntries", () => {
        for (const entry of entriesOf(keys)) {
          if (entry.leaseId === leaseId) entry.leasedUntil = null;
        }
      }),

    renewLeases: (runs) =>
      write("renewLeases", () => {
        for (const { deliveryId, run } of runs) {
          const entry = entries.get(deliveryId);
          if (entry?.run !== run || entry.task !== Task.Attempt) continue;
          const hasHalf = (entry.leasedUntil ?? 0) >= nowMicros() + LEASE_MICROS / 2;
          if (!isLeased(entry) || !hasHalf) entry.leasedUntil = nowMicros() + LEASE_MICROS;
        }
      }),

    loadLeasedAttempts: (keys, leaseId) =>
      read("loadLeasedAttempts", () =>
        entriesOf(keys)
          .filter((entry) => entry.leaseId === leaseId)
          .map((entry) => ({
            ...leasedOf(entry),
            content: contentOf(deliveries.get(entry.deliveryId), entry.leasedUntil),
          })),
      ),

    loadLeasedRetries: (keys, leaseId) =>
      read("loadLeasedRetries", () =>
        entriesOf(keys)
          .filter((entry) => entry.leaseId === leaseId)
          .map((entry) => ({
            ...leasedOf(entry),
            dueInMicros: inMicros(deliveries.get(entry.deliveryId)?.nextAttemptAt ?? null),
          })),
      ),

    listAttemptsOfRuns: (runs) =>
      read("listAttemptsOfRuns", () => {
        const asked = new Set(runs.map(({ deliveryId, run }) => `${deliveryId} ${run}`));
        return [...attempts.values()]
          .filter(({ deliveryId, run }) => asked.has(`${deliveryId} ${run}`))
          .sort((one, other) => one.attempt - other.attempt)
          .map((attempt) => ({
            ...{ accountNo: attempt.accountNo, deliveryId: attempt.deliveryId },
            ...pastOf(attempt),
          }));
      }),

    findAttempt: ({ deliveryId, run }, attempt) =>
      read("findAttempt", () => {
        const delivery = deliveries.get(deliveryId);
        if (delivery === undefined) return undefined;
        const past = attempts.get(keyOf({ deliveryId, run, attempt }));
        const { nextAttemptAt } = delivery;
        return {
          isRunning: isRunning(delivery, run),
          isAhead: delivery.run < run,
          recorded: past && pastOf(past),
          retryInMicros: nextAttemptAt === null ? undefined : inMicros(nextAttemptAt),
          content: contentOf(delivery, null),
        };
      }),

    // The simulation deletes no account.
    isAccountDeleted: () => read("isAccountDeleted", () => false),

    rescheduleAttempt: ({ deliveryId, run }, attempt, waitMicros) =>
      locks.whenFree(link, "rescheduleAttempt", [deliveryId], () => {
        const delivery = deliveries.get(deliveryId);
        if (delivery === undefined || !isRunning(delivery, run)) return;
        if (delivery.attempts < attempt) delivery.nextAttemptAt = nowMicros() + waitMicros;
      }),

    listPresent: (keys) =>
      read("listPresent", () => keys.filter(({ deliveryId }) => deliveries.has(deliveryId))),

    change(changes) {
      const rows = (changes.canceled ?? []).map(({ deliveryId }) => deliveryId);
      return locks.whenFree(link, "change", rows, () => applyChanges(tables, changes));
    },

    async changeFree(keys, decide) {
      const transaction: Transaction = { session, isOver: false };
      try {
        const free = await read("lockFree", () => {
          if (isOver(transaction)) return [];
          const ids = keys.map(({ deliveryId }) => deliveryId);
          return locks
            .takeFree(ids, transaction)
            .flatMap((id) => deliveries.get(id) ?? [])
            .map(({ accountNo, deliveryId, endpointId, run, state, attempts }) => ({
              ...{ accountNo, deliveryId, endpointId, run, state, attempts },
            }));
        });
        const { changes, result } = decide(free);
        // A read-only database can lock rows, and can commit a transaction that changed nothing.
        const isWrite = Object.values(changes).some((list) => list.length > 0);
        await link({ name: "commit", isWrite }, () => {
          if (isOver(transaction)) return;
          applyChanges(tables, changes);
          locks.end(transaction);
        });
        return result;
      } finally {
        // A lost connection releases its locks.
        locks.end(transaction);
      }
    },

    resumeOverdue: (overdueMicros, limit) =>
      write("resumeOverdue", () => {
        const latest = nowMicros() - overdueMicros;
        const overdue = [...deliveries.values()]
          .filter(
            ({ deliveryId, state, nextAttemptAt }) =>
              state === DeliveryState.Retrying &&
              nextAttemptAt !== null &&
              nextAttemptAt < latest &&
              !locks.isHeld([deliveryId]),
          )
          .sort((one, other) => (one.nextAttemptAt ?? 0) - (other.nextAttemptAt ?? 0))
          .slice(0, limit);
        for (const delivery of overdue) {
          tables.putEntry(delivery, Task.BeginRetries);
          delivery.nextAttemptAt = nowMicros();
        }
        return overdue.length;
      }),
  };
}

/**
 * Orders entries by queue. In a queue, entries of ended leases come first, the latest end first. The other entries
 * follow, oldest first.
 */
function inQueueOrder(one: EntryRow, other: EntryRow): number {
  if (one.accountNo !== other.accountNo) return one.accountNo - other.accountNo;
  if (one.endpointId !== other.endpointId) return one.endpointId < other.endpointId ? -1 : 1;
  const [a, b] = [one.leasedUntil ?? -1, other.leasedUntil ?? -1];
  if (a !== b) return b - a;
  return one.deliveryId < other.deliveryId ? -1 : 1;
}

function pastOf({ outcome, startedAt, durationMicros }: NewAttempt) {
  return { outcome, endedAt: Number(startedAt) + durationMicros };
}
