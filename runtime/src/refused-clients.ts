import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

/**
 * The delay of a repeated refusal, in milliseconds. A flood that waits for its answers leaves processor time to others.
 * ADR 0030, 0037
 */
export const REFUSAL_DELAY_MS = 250;

/** The most delayed refusals in one turn of the event loop. */
const REFUSALS_A_TURN = 32;
/**
 * The pause after such a turn, as a multiple of the turn's length. Refusals thus take a quarter of the time, or more
 * if `LONGEST_PAUSE_MS` ends the pause.
 */
const TURNS_PAUSED = 3;
/** The longest pause. The turn in which a flood arrives can take seconds: three times that would be too long. */
const LONGEST_PAUSE_MS = 250;

/** Resolves when the next refusals may be sent. There is one for the process, as there is one event loop. */
let turn = Promise.resolve();
let refusals = 0;

/**
 * Waits before a refusal: `delayMs` milliseconds, or until the signal aborts, and then for a turn. After 32 refusals
 * comes a pause three times as long as they took, at most 250 ms. A flood thus delays mostly itself. Never rejects.
 * ADR 0030
 */
export async function delayRefusal(delayMs: number, signal?: AbortSignal): Promise<void> {
  await wait(delayMs, undefined, { signal }).catch(() => undefined);
  refusals += 1;
  if (refusals % REFUSALS_A_TURN === 1) turn = turn.then(pauseAfterTurn);
  await turn;
}

/** Waits for the end of this turn, and then several times as long as it took. */
async function pauseAfterTurn(): Promise<void> {
  const startMs = performance.now();
  await nextTurn();
  const tookMs = performance.now() - startMs;
  await wait(Math.min(TURNS_PAUSED * tookMs, LONGEST_PAUSE_MS));
}

/** Clients whose requests are all refused for some time. A client is the bytes of `clientBucket`. */
export type RefusedClients = {
  /** Returns the end of a client's refusal, in milliseconds of `nowMs`; `undefined` if it is not refused. */
  untilMs(client: Buffer): number | undefined;
  /** Refuses a client until `untilMs`, in place of the end of its earlier refusal. */
  note(client: Buffer, untilMs: number): void;
};

/**
 * Creates an empty list. A new entry removes ended ones. Each entry costs its client a whole limit of requests, so the
 * list stays short. `nowMs` is a monotonic clock. ADR 0030
 */
export function createRefusedClients(nowMs: () => number): RefusedClients {
  /** The end of each client's refusal. The latest refusal is the last entry. */
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
