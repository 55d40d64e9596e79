/**
 * Resolves after a time, or earlier when it is woken: it adds a function for this to `wakers`. Rejects with the
 * signal's reason when that aborts first.
 */
export function sleep(
  ms: number,
  signal: AbortSignal | undefined,
  wakers?: Set<() => void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      wakers?.delete(wake);
    };
    const wake = () => {
      end();
      resolve();
    };
    const abort = () => {
      end();
      reject(signal?.reason);
    };
    const timer = setTimeout(wake, ms);
    wakers?.add(wake);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
