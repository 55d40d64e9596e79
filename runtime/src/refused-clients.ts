/**
 * How long a client waits for a refusal that it was told before, or of a made-up credential. A
 * flood that waits for its answers leaves processor time to others. ADR 0030, 0037
 */
export const REFUSAL_DELAY_MS = 250;

/** Clients that are refused for a while, whatever they ask. A client is the bytes of `clientBucket`. */
export type RefusedClients = {
  /** Until when a client is refused, in milliseconds of the clock; undefined when it is not. */
  untilMs(client: Buffer): number | undefined;
  /** Refuses a client until then, in place of what was noted of it before. */
  note(client: Buffer, untilMs: number): void;
};

/**
 * Creates a list without clients. An entry is forgotten once a later one finds it ended; each cost its client a whole
 * limit of requests, so the list stays short. `nowMs` is a clock that never steps. ADR 0030
 */
export function createRefusedClients(nowMs: () => number): RefusedClients {
  /** The one that was refused last at the end. */
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
