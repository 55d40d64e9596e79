/** Runs work once for several callers that wait for it. */
export interface SharedWork {
  /**
   * Waits for the work of this name, and begins it unless it is running. If `signal` aborts, rejects with its reason.
   * The work itself is aborted once no caller waits for it.
   */
  join<Result>(
    name: string,
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result>;
}

interface Job {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  waiting: number;
}

export function createSharedWork(): SharedWork {
  const jobs = new Map<string, Job>();

  function begin(name: string, work: (signal: AbortSignal) => Promise<unknown>): Job {
    const controller = new AbortController();
    const result = work(controller.signal).finally(() => forget(name, job));
    // Waiting callers handle a failure. Without callers it must not count as unhandled.
    result.catch(() => {});
    const job: Job = { result, controller, waiting: 0 };
    jobs.set(name, job);
    return job;
  }
  function forget(name: string, job: Job): void {
    if (jobs.get(name) === job) jobs.delete(name);
  }

  return {
    async join<Result>(
      name: string,
      work: (signal: AbortSignal) => Promise<Result>,
      signal: AbortSignal | undefined,
    ) {
      signal?.throwIfAborted();
      const job = jobs.get(name) ?? begin(name, work);
      job.waiting += 1;
      let abort = () => {};
      const aborted = new Promise<never>((_, reject) => {
        abort = () => reject(signal?.reason);
        signal?.addEventListener("abort", abort, { once: true });
      });
      try {
        // All work of one name has the same result type.
        return (await Promise.race([job.result, aborted])) as Result;
      } finally {
        signal?.removeEventListener("abort", abort);
        job.waiting -= 1;
        if (job.waiting === 0) {
          // Forgets the job before it aborts it, so that a new caller begins the work again.
          forget(name, job);
          job.controller.abort();
        }
      }
    },
  };
}
