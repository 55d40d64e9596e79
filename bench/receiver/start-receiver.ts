import type { Bench } from "../run/bench.ts";
import { makeSelfSigned } from "../stack/dev-stack.ts";
import { startWorker } from "../stack/jobs.ts";
import type { ReceiverJobs } from "./receiver-worker.ts";

/**
 * A receiver of webhook events in a process of its own: endpoints name `target`, or `hanging`, which never answers.
 * Nobody else vouches for `ca`.
 */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts a receiver. */
export async function startReceiver(bench: Bench) {
  const file = new URL("./receiver-worker.ts", import.meta.url);
  const { pid, jobs } = startWorker<ReceiverJobs>(bench, file);
  const { cert, key } = makeSelfSigned(Date.now());
  const [target, hanging] = [await jobs.listen(cert, key), await jobs.hang(cert, key)];
  return { pid, ca: cert, target, hanging, jobs };
}
