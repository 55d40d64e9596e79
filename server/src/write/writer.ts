import { currentSpan } from "@activity/runtime/traces";
import { accountNoOf } from "../common/ids.ts";
import { DatabaseTimeoutError } from "../database/deadline.ts";
import type { Asks, Found } from "../database/lookup.ts";
import { isConnectionLost } from "../database/outage.ts";
import type { Packets } from "../database/packet.ts";
import type { Outbox } from "../dispatch/outbox.ts";
import type { FeedChanges } from "../feed-change/feed-changes.ts";
import { commitWrites, type Outcome, type PlannedWrite } from "./commit-writes.ts";
import { accountNotFound } from "./locked-account.ts";
import type { Write } from "./write.ts";

/**
 * How long writes wait at most, after a commit with events, until a poller waits for theirs: so each goes at once to
 * where it is delivered. While a backlog drains no poller waits, and this is the pace of commits.
 */
const MAX_BEHIND_MS = 40;
/** Writes that share a commit at most; with the longest texts they fit into one packet (16 MiB). */
const MAX_TOGETHER = 64;
/** How long a write waits for those of its account before it. */
const MAX_TURN_MS = 10_000;
const LOCKED = `The account was locked for longer than ${MAX_TURN_MS} ms.`;

/** Runs the writes of the service, each as load, decide, store. */
export type Writer = {
  /**
   * Runs a write and resolves with its answer once it is committed. Fails with what its decision failed
   * with, and with `account_not_found` when its account is unknown or deleted.
   */
  write<Asked extends Asks, Answer>(write: Write<Asked, Answer>): Promise<Answer>;
};

/** The connections that writes run on. */
export type WriteConnections = {
  /** One connection, for the writes that share a commit: they follow one another. */
  readonly together: Packets;
  /** For those that are made on their own. */
  readonly alone: Packets;
  /** For those that found their account locked and wait for it: they hold up no others. */
  readonly leftOut: Packets;
};

type Waiting = PlannedWrite & {
  readonly touches: readonly string[];
  /** When it is no longer begun, by `performance.now()`. */
  readonly waitsUntilMs: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Creates a writer that gathers the writes which arrive while others are committed into the next
 * transaction. An idle service commits at once, a busy one shares its commits. A write runs on its
 * own when others have locked its account, or when its shared transaction failed. Those of one
 * account follow one another, so a locked account holds one connection at most.
 */
export function createWriter(
  { together, alone, leftOut }: WriteConnections,
  outbox: Outbox,
  feedChanges: Pick<FeedChanges, "note">,
): Writer {
  let waiting: Waiting[] = [];
  /** By account, the writes that wait behind one on its own. */
  const behind = new Map<number, (() => Promise<void>)[]>();
  let isRunning = false;
  let mayBeBehind = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    // Those that came in the same turn of the event loop share the first commit too.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      if (mayBeBehind) await outbox.attempts.caughtUp(MAX_BEHIND_MS);
      await runTogether(takeBatch());
    }
    isRunning = false;
  }

  /** Takes the first of each name: a write is never decided before one that it may build on is stored. */
  function takeBatch(): Waiting[] {
    const touched = new Set<string>();
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    for (const write of waiting) {
      const names = write.touches.map((name) => `${write.accountNo} ${name}`);
      const fits = batch.length < MAX_TOGETHER && !names.some((name) => touched.has(name));
      (fits ? batch : left).push(write);
      for (const name of names) touched.add(name);
    }
    waiting = left;
    return batch;
  }

  async function runTogether(batch: readonly Waiting[]): Promise<void> {
    try {
      const committed = await commitWrites(together, outbox, batch, false);
      const { outcomes, hasAttempts } = committed;
      feedChanges.note(committed.feeds);
      for (const [place, write] of batch.entries()) {
        const outcome = outcomes[place];
        if (outcome === undefined || outcome.kind === "no_account") runAlone(write, leftOut);
        else settle(write, outcome);
      }
      mayBeBehind = hasAttempts;
    } catch (error) {
      if (!isConnectionLost(error)) {
        for (const write of batch) runAlone(write, alone);
        return;
      }
      // Those that wait would learn it no sooner than their turns come, each as late as these.
      for (const write of [...batch, ...waiting.splice(0)]) write.reject(error);
    }
  }

  function runAlone(write: Waiting, packets: Packets): void {
    const run = () => commitAlone(write, packets);
    const queue = behind.get(write.accountNo);
    if (queue === undefined) void runInTurn(write.accountNo, run);
    else queue.push(run);
  }

  async function runInTurn(accountNo: number, first: () => Promise<void>): Promise<void> {
    const queue = [first];
    behind.set(accountNo, queue);
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) await run();
    behind.delete(accountNo);
  }

  async function commitAlone(write: Waiting, packets: Packets): Promise<void> {
    try {
      // Behind a locked account it may have waited for longer than its caller does.
      if (performance.now() > write.waitsUntilMs) throw new DatabaseTimeoutError(LOCKED);
      const { outcomes, feeds } = await commitWrites(packets, outbox, [write], true);
      feedChanges.note(feeds);
      const [outcome] = outcomes;
      if (outcome !== undefined) settle(write, outcome);
    } catch (error) {
      write.reject(error);
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
          // The answers to its own asks, by their names.
          decide: (found, account) => decide(found as Found<Asked>, account),
          touches: touches ?? [],
          waitsUntilMs: performance.now() + MAX_TURN_MS,
          resolve: (answer) => resolve(answer as Answer),
          reject,
        };
        if (touches === undefined) {
          runAlone(planned, alone);
          return;
        }
        waiting.push(planned);
        if (!isRunning) void runAll();
      });
    },
  };
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
