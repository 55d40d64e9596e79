/** A clock and timers, given to who waits: a process has its own, and a test may have others. */
export type Timing = {
  /** Milliseconds of a clock that never steps. */
  nowMs(): number;
  /** Calls `work` once after a time; returns how to prevent it. */
  after(milliseconds: number, work: () => void): () => void;
};

/** The clock and timers of this process. */
export const PROCESS_TIMING: Timing = {
  nowMs: () => performance.now(),
  after(milliseconds, work) {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Resolves after a time, or as soon as `signal` is aborted. */
export function wait(timing: Timing, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = timing.after(milliseconds, end);
    signal?.addEventListener("abort", end, { once: true });
  });
}
