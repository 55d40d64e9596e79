import { currentSpan, type Sharer, together } from "@activity/runtime/traces";
import { OverloadedError } from "../common/overloaded-error.ts";

/** Maximum requests per round trip. */
const MAX_BATCH = 64;
/** How long a request may wait for its batch: slightly less than a gateway waits for the core. */
const MAX_WAIT_MS = 4_000;

/** The part of a request that the queue uses. */
export type QueuedRequest = {
  /** The queue serves clients round-robin. */
  readonly client: Buffer;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
};

type Waiting<Request, Result> = {
  readonly request: Request;
  readonly sinceMs: number;
  readonly span: Sharer | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Creates a queue that sends requests in batches: those that arrive while a batch is in flight form the next one. An
 * idle core answers at once. A busy core shares round trips. A batch takes requests round-robin by client. A request
 * whose client left is not sent. A request that waited over `MAX_WAIT_MS` fails with OverloadedError. `run` returns one
 * result per request, in order. If `run` rejects, the batch rejects. `nowMs` is a clock that never steps.
 */
export function createWaitQueue<Request extends QueuedRequest, Result>(options: {
  readonly nowMs: () => number;
  readonly run: (requests: readonly Request[]) => Promise<readonly Result[]>;
}): (request: Request) => Promise<Result> {
  /** Waiting requests by client. The order of the map is the round-robin order. */
  const clients = new Map<string, Waiting<Request, Result>[]>();
  let running = false;

  async function runAll(): Promise<void> {
    running = true;
    while (clients.size > 0) await runBatch(takeBatch());
    running = false;
  }

  function takeBatch(): Waiting<Request, Result>[] {
    const batch: Waiting<Request, Result>[] = [];
    // `set` moves the client behind all others. The loop reaches it again if the batch has capacity left.
    for (const [client, waiting] of clients) {
      if (batch.length === MAX_BATCH) break;
      const next = waiting.shift();
      clients.delete(client);
      if (waiting.length > 0) clients.set(client, waiting);
      if (next !== undefined && isWanted(next)) batch.push(next);
    }
    return batch;
  }

  function isWanted({ request, sinceMs, reject }: Waiting<Request, Result>): boolean {
    if (request.signal?.aborted) reject(request.signal.reason);
    else if (options.nowMs() - sinceMs > MAX_WAIT_MS) reject(new OverloadedError());
    else return true;
    return false;
  }

  async function runBatch(batch: readonly Waiting<Request, Result>[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const spans = batch.map(({ span }) => span);
      const results = await together("count requests", spans, () =>
        options.run(batch.map(({ request }) => request)),
      );
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (request) =>
    new Promise((resolve, reject) => {
      const client = request.client.toString("latin1");
      const entry = { request, sinceMs: options.nowMs(), span: currentSpan(), resolve, reject };
      const waiting = clients.get(client);
      if (waiting === undefined) clients.set(client, [entry]);
      else waiting.push(entry);
      if (!running) void runAll();
    });
}
