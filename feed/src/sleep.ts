/**
 * Resolves after `ms`, or when a caller runs the function that this adds to `wakers`. If `signal` aborts first, rejects
 * with its reason.
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
