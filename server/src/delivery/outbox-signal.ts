/** Tells whoever waits in this process that there may be something to claim. */
export type OutboxSignal = {
  /** Wakes all who wait; called after a commit. */
  notify(): void;
  /** Resolves at the next `notify`, or after so long, or when `signal` is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
};

/** Creates a signal that nobody waits for yet. */
export function createOutboxSignal(): OutboxSignal {
  const wakers = new Set<() => void>();
  return {
    notify() {
      for (const wake of wakers) wake();
    },
    wait(milliseconds, signal) {
      return new Promise((resolve) => {
        const wake = () => {
          wakers.delete(wake);
          clearTimeout(timer);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const timer = setTimeout(wake, milliseconds);
        wakers.add(wake);
        signal.addEventListener("abort", wake, { once: true });
        if (signal.aborted) wake();
      });
    },
  };
}
