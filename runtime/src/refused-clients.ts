import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

/**
 * The delay of a repeated refusal, and of the refusal of a made-up credential. A flood that waits for its answers
 * leaves processor time to others. ADR 0030, 0037
 */
export const REFUSAL_DELAY_MS = 250;

/** The most delayed refusals in one turn of the event loop. */
const REFUSALS_A_TURN = 32;

/** Waits before a refusal, or until the signal aborts. Never rejects. */
export type DelayRefusal = (signal?: AbortSignal) => Promise<void>;

/**
 * Creates a delay of `delayMs`, in milliseconds. After 32 refusals the event loop takes input and output before the
 * next. Node runs due timers without a pause, so a flood's timers would otherwise stop all other work. ADR 0030
 */
export function createRefusalDelay(delayMs: number): DelayRefusal {
  let turn = Promise.resolve();
  let refusals = 0;
  return async (signal) => {
    await wait(delayMs, undefined, { signal }).catch(() => undefined);
    refusals += 1;
    if (refusals % REFUSALS_A_TURN === 1) turn = turn.then(() => nextTurn());
    await turn;
  };
}

/** Clients whose requests are all refused for some time. A client is the bytes of `clientBucket`. */
export type RefusedClients = {
  /** Returns the end of a client's refusal, in milliseconds of `nowMs`; `undefined` if it is not refused. */
  untilMs(client: Buffer): number | undefined;
  /** Refuses a client until that time. Replaces its earlier end. */
  note(client: Buffer, untilMs: number): void;
};

/**
 * Creates an empty list. A new entry removes ended ones. Each entry costs its client a whole limit of requests, so the
 * list stays short. `nowMs` is a monotonic clock. ADR 0030
 */
export function createRefusedClients(nowMs: () => number): RefusedClients {
  /** The latest refusal last. */
  const untilMsOf = new Map<string, number>();
  return {
    untilMs(client) {
      const untilMs = untilMsOf.get(client.toString("latin1"));
      return untilMs !== undefined && untilMs > nowMs() ? untilMs : undefined;
    },
    note(client, untilMs) {
      for (const [other, otherUntilMs] of untilMsOf) {
        if (otherUntilMs > nowMs()) break;
        untilMsOf.delete(other);
      }
      const key = client.toString("latin1");
      untilMsOf.delete(key);
      untilMsOf.set(key, untilMs);
    },
  };
}
