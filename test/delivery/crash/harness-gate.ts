import type { Behaviour, ReceivedRequest } from "../harness-receiver.ts";

/** Keeps requests waiting for their answer, so that what they carry stays in flight. */
export type Gate = {
  readonly behaviour: Behaviour;
  /** Lets one request through every so often, until what it returns is called. */
  letThroughEvery(milliseconds: number): () => void;
  /** Lets everything through from now on. */
  open(): void;
};

/** Puts a closed gate before a behaviour; requests of which `isKept` is not true pass it. */
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
      // Its sender is dead or has given up, and asks again.
      if (request[0].destroyed) continue;
      passes -= 1;
      behaviour(...request);
    }
  }
}
