import { currentSpan } from "@activity/runtime/traces";
import { accountNoOf } from "../common/ids.ts";
import { OverloadedError } from "../common/overloaded-error.ts";
import { DatabaseTimeoutError } from "../database/deadline.ts";
import type { Asks, Found } from "../database/lookup.ts";
import { isConnectionLost, isDeadlock, isOutage } from "../database/outage.ts";
import type { Packets } from "../database/packet.ts";
import type { Outbox } from "../dispatch/outbox.ts";
import type { FeedChanges } from "../feed-change/feed-changes.ts";
import { commitWrites, type Outcome, type PlannedWrite } from "./commit-writes.ts";
import { accountNotFound } from "./locked-account.ts";
import type { Write } from "./write.ts";

/**
 * After a commit with events, the next commit waits until a poller waits again, but at most this long. The events of
 * the next commit then go to that poller at once. While a backlog drains, no poller waits, and commits follow at this
 * pace.
 */
const MAX_BEHIND_MS = 40;
/** The most writes that share a commit. Even with the longest texts they fit into one packet (16 MiB). */
const MAX_TOGETHER = 64;
/** How long a write waits for its turn. */
const MAX_TURN_MS = 10_000;
const LOCKED = `The write waited for its account for longer than ${MAX_TURN_MS} ms.`;

/** Runs the writes of the service: each loads, decides and stores. */
export type Writer = {
  /**
   * Runs a write and resolves with its answer after the commit. Rejects with the error of its decision, or with
   * `account_not_found` if its account is unknown or deleted. Rejects with OverloadedError if it waited too long for
   * its turn. Rejects with DatabaseTimeoutError if it waited too long for a lock or for other writes of its account.
   */
  write<Asked extends Asks, Answer>(write: Write<Asked, Answer>): Promise<Answer>;
};

export type WriteConnections = {
  /** One connection for the writes that share commits, one commit after another. */
  readonly together: Packets;
  /** For writes that are committed alone. */
  readonly alone: Packets;
  /**
   * For writes that wait for their locked account, so that they delay no others. Those of one account share commits.
   */
  readonly leftOut: Packets;
};

type Waiting = PlannedWrite & {
  readonly touches: readonly string[];
  /** The write does not begin after this time, by `performance.now()`. */
  readonly waitsUntilMs: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** Writes of one account that share a commit. */
type Group = { readonly packets: Packets; readonly writes: Waiting[] };

/**
 * Creates a writer. It collects the writes that arrive during a commit, and commits them together next: an idle service
 * commits at once, a busy one shares commits. A write is committed alone if its shared transaction failed. If another
 * transaction has locked a write's account, the write shares a commit only with other writes that wait for this
 * account. An account's commits outside the shared ones run one after another, so a locked account holds at most one
 * connection. If the shared connection is lost, the writes of the transaction and all that wait for a shared commit
 * fail.
 */
export function createWriter(
  { together, alone, leftOut }: WriteConnections,
  outbox: Outbox,
  feedChanges: Pick<FeedChanges, "note">,
): Writer {
  /** The writes that wait for the next shared commit, by account. The order of the map is the round-robin order. */
  const waiting = new Map<number, Waiting[]>();
  /** The commits outside the shared ones that wait for their turn, by account. */
  const queues = new Map<number, Group[]>();
  let isRunning = false;
  let mayBeBehind = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    // Waits, so that writes of the same turn of the event loop share the first commit too.
    await new Promise(setImmediate);
    while (waiting.size > 0) {
      if (mayBeBehind) await outbox.attempts.caughtUp(MAX_BEHIND_MS);
      const batch = takeBatch();
      if (batch.length > 0) await runTogether(batch);
    }
    isRunning = false;
  }

  /**
   * Takes writes round-robin by account. It takes only the first write of each name, because a write must follow those
   * that it may depend on.
   */
  function takeBatch(): Waiting[] {
    const nowMs = performance.now();
    const touched = new Set<string>();
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    // An account that is set again moves behind all others. The loop reaches it again if the batch has capacity left.
    for (const [accountNo, writes] of waiting) {
      if (batch.length === MAX_TOGETHER) break;
      const write = writes.shift();
      waiting.delete(accountNo);
      if (writes.length > 0) waiting.set(accountNo, writes);
      if (write === undefined) continue;
      if (nowMs > write.waitsUntilMs) {
        write.reject(new OverloadedError());
        continue;
      }
      const names = write.touches.map((name) => `${accountNo} ${name}`);
      (names.some((name) => touched.has(name)) ? left : batch).push(write);
      for (const name of names) touched.add(name);
    }
    for (const [accountNo, writes] of Map.groupBy(left, (write) => write.accountNo)) {
      waiting.set(accountNo, [...writes, ...(waiting.get(accountNo) ?? [])]);
    }
    return batch;
  }

  async function runTogether(batch: readonly Waiting[]): Promise<void> {
    try {
      const committed = await commitWrites(together, outbox, batch, false);
      const { outcomes, hasAttempts } = committed;
      feedChanges.note(committed.feeds);
      for (const [index, write] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined || outcome.kind === "no_account") runApart(write, leftOut);
        else settle(write, outcome);
      }
      mayBeBehind = hasAttempts;
    } catch (error) {
      if (!isConnectionLost(error)) {
        for (const write of batch) runApart(write, alone);
        return;
      }
      // Reject the waiting writes too. Otherwise each would wait for its own timeout.
      for (const write of [...batch, ...[...waiting.values()].flat()]) write.reject(error);
      waiting.clear();
    }
  }

  /** Commits a write apart from other accounts, after the writes of its account in `queues`. */
  function runApart(write: Waiting, packets: Packets): void {
    const { accountNo } = write;
    const queue = queues.get(accountNo) ?? [];
    const last = queue.at(-1);
    if (packets === leftOut && last?.packets === leftOut && mayJoin(last.writes, write)) {
      last.writes.push(write);
      return;
    }
    queue.push({ packets, writes: [write] });
    if (queues.has(accountNo)) return;
    queues.set(accountNo, queue);
    void runInTurn(accountNo, queue);
  }

  async function runInTurn(accountNo: number, queue: Group[]): Promise<void> {
    // Waits, so that writes that were left out of the same commit share the first commit here too.
    await Promise.resolve();
    for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
      await commitApart(group);
    }
    queues.delete(accountNo);
  }

  async function commitApart({ packets, writes }: Group): Promise<void> {
    // Rejects writes that waited for a lock or a connection for longer than their callers wait.
    const inTime = writes.filter((write) => {
      const isLate = performance.now() > write.waitsUntilMs;
      if (isLate) write.reject(new DatabaseTimeoutError(LOCKED));
      return !isLate;
    });
    if (inTime.length === 0) return;
    const planned = inTime.map((write) => ({
      ...write,
      decide: (...found: Parameters<Waiting["decide"]>) => {
        if (performance.now() > write.waitsUntilMs) throw new DatabaseTimeoutError(LOCKED);
        return write.decide(...found);
      },
    }));
    try {
      const { outcomes, feeds } = await commitWrites(packets, outbox, planned, true);
      feedChanges.note(feeds);
      for (const [index, write] of inTime.entries()) {
        const outcome = outcomes[index];
        if (outcome !== undefined) settle(write, outcome);
      }
    } catch (error) {
      // Commits each write alone, except in an outage, when each would fail too.
      if (inTime.length > 1 && (!isOutage(error) || isDeadlock(error))) {
        for (const write of inTime) await commitApart({ packets, writes: [write] });
        return;
      }
      for (const write of inTime) write.reject(error);
    }
  }

  return {
    write<Asked extends Asks, Answer>({
      accountId,
      touches,
      load,
      decide,
    }: Write<Asked, Answer>): Promise<Answer> {
      const accountNo = accountNoOf(accountId);
      if (accountNo === undefined) return Promise.reject(accountNotFound());
      return new Promise<Answer>((resolve, reject) => {
        const planned: Waiting = {
          accountId,
          accountNo,
          asks: load(accountNo),
          span: currentSpan(),
          // `found` has the results of this write's own lookups, by their names.
          decide: (found, account) => decide(found as Found<Asked>, account),
          touches: touches ?? [],
          waitsUntilMs: performance.now() + MAX_TURN_MS,
          resolve: (answer) => resolve(answer as Answer),
          reject,
        };
        if (touches === undefined) {
          runApart(planned, alone);
          return;
        }
        const writes = waiting.get(accountNo);
        if (writes === undefined) waiting.set(accountNo, [planned]);
        else writes.push(planned);
        if (!isRunning) void runAll();
      });
    },
  };
}

/**
 * Whether a write may join others in a commit: they are fewer than `MAX_TOGETHER`, and share no name with the write.
 */
function mayJoin(writes: readonly Waiting[], { touches }: Waiting): boolean {
  const isNamed = (name: string) => writes.some((write) => write.touches.includes(name));
  return writes.length < MAX_TOGETHER && !touches.some(isNamed);
}

function settle(write: Waiting, outcome: Outcome): void {
  switch (outcome.kind) {
    case "written":
      write.resolve(outcome.answer);
      break;
    case "refused":
      write.reject(outcome.error);
      break;
    case "no_account":
      write.reject(accountNotFound());
      break;
  }
}
