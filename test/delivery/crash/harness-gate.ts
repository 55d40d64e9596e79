import type { Behaviour, ReceivedRequest } from "../harness-receiver.ts";

/** Puts a closed gate before a behaviour. Requests with `isKept` wait there, so their attempts stay in flight. */
export function createGate(behaviour: Behaviour, isKept: (request: ReceivedRequest) => boolean) {
  const waiting: Parameters<Behaviour>[] = [];
  let isOpen = false;

  function answerNext(): void {
    let next = waiting.shift();
    // The sender of a destroyed socket is dead or has given up. It will send again.
    while (next?.[0].destroyed) next = waiting.shift();
    if (next !== undefined) behaviour(...next);
  }

  return {
    behaviour(...request: Parameters<Behaviour>): void {
      if (isOpen || !isKept(request[1])) behaviour(...request);
      else waiting.push(request);
    },
    /** Answers one request in each interval, until the returned function is called. */
    answerEvery(milliseconds: number): () => void {
      const timer = setInterval(answerNext, milliseconds);
      return () => clearInterval(timer);
    },
    /** Answers everything from now on. */
    open(): void {
      isOpen = true;
      while (waiting.length > 0) answerNext();
    },
  };
}
