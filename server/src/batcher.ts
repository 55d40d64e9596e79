import { OverloadedError } from "./overloaded-error.ts";

type Waiting<Request, Result> = {
  readonly request: Request;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Gathers the requests that arrive while a batch is under way into the next one, so that an idle service
 * answers at once and a busy one shares its round trips. Of requests with the same `keyOf`, a batch takes
 * one. `run` answers a batch with one result a request, in order; when it rejects, all of its batch do.
 * With `mostWaiting` requests in line, a further one rejects with OverloadedError.
 */
export function createBatcher<Request, Result>(options: {
  readonly largest: number;
  readonly mostWaiting: number;
  readonly keyOf: (request: Request) => string | undefined;
  readonly run: (requests: readonly Request[]) => Promise<readonly Result[]>;
}): (request: Request) => Promise<Result> {
  let waiting: Waiting<Request, Result>[] = [];
  let running = false;

  async function runAll(): Promise<void> {
    running = true;
    while (waiting.length > 0) await runBatch(takeBatch());
    running = false;
  }

  function takeBatch(): Waiting<Request, Result>[] {
    const batch: Waiting<Request, Result>[] = [];
    const left: Waiting<Request, Result>[] = [];
    const keys = new Set<string>();
    for (const entry of waiting) {
      const key = options.keyOf(entry.request);
      const fits = batch.length < options.largest && (key === undefined || !keys.has(key));
      (fits ? batch : left).push(entry);
      if (fits && key !== undefined) keys.add(key);
    }
    waiting = left;
    return batch;
  }

  async function runBatch(batch: Waiting<Request, Result>[]): Promise<void> {
    try {
      const results = await options.run(batch.map((entry) => entry.request));
      for (const [index, entry] of batch.entries()) entry.resolve(results[index] as Result);
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
  }

  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= options.mostWaiting) return reject(new OverloadedError());
      waiting.push({ request, resolve, reject });
      if (!running) void runAll();
    });
}
