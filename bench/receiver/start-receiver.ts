import { makeSelfSigned } from "../../tools/demo/self-signed.ts";
import type { Bench } from "../run/bench.ts";
import { startWorker } from "../stack/jobs.ts";
import type { ReceiverJobs } from "./receiver-worker.ts";

/**
 * A receiver of webhook events in its own process. Endpoints use `target`, or `hanging`, which never answers. `ca` is
 * its self-signed certificate.
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
