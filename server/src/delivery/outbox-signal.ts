/** Tells one of those who wait in this process that there may be something to claim. */
export type OutboxSignal = {
  /** How often `notify` was called: whoever looked may see that it was meanwhile. */
  notified(): number;
  /** Wakes who has waited longest, and nobody else: they would look for the same. Called after a commit. */
  notify(): void;
  /** Resolves when it is this one's turn to be woken, or after so long, or when `signal` is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
};

/** Creates a signal that nobody waits for yet. */
export function createOutboxSignal(): OutboxSignal {
  const wakers = new Set<() => void>();
  let notified = 0;
  return {
    notified: () => notified,
    notify() {
      notified += 1;
      const [longest] = wakers;
      longest?.();
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
