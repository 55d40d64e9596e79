/** A clock and timers. Tests can replace those of the process. */
export type Timing = {
  /** Returns milliseconds of a monotonic clock. */
  nowMs(): number;
  /** Calls `work` once after a time. Returns a function that cancels it. */
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
