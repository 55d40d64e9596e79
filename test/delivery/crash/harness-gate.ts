import type { Behaviour, ReceivedRequest } from "../harness-receiver.ts";

/** Holds requests back from their answer, so that their attempts stay in flight. */
export type Gate = {
  readonly behaviour: Behaviour;
  /** Releases one request in each interval, until the returned function is called. */
  letThroughEvery(milliseconds: number): () => void;
  /** Releases everything from now on. */
  open(): void;
};

/** Puts a closed gate before a behaviour. Only requests with `isKept` wait. */
export function createGate(
  behaviour: Behaviour,
  isKept: (request: ReceivedRequest) => boolean,
): Gate {
  const waiting: Parameters<Behaviour>[] = [];
  let passes = 0;

  return {
    behaviour(...request) {
      if (!isKept(request[1])) return behaviour(...request);
      waiting.push(request);
      letThrough();
    },
    letThroughEvery(milliseconds) {
      const timer = setInterval(() => {
        passes += 1;
        letThrough();
      }, milliseconds);
      return () => clearInterval(timer);
    },
    open() {
      passes = Number.POSITIVE_INFINITY;
      letThrough();
    },
  };

  function letThrough(): void {
    while (passes > 0) {
      const request = waiting.shift();
      if (request === undefined) return;
      // The sender is dead or has given up. It will send again.
      if (request[0].destroyed) continue;
      passes -= 1;
      behaviour(...request);
    }
  }
}
