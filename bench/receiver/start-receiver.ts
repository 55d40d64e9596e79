import type { Bench } from "../run/bench.ts";
import { makeSelfSigned } from "../stack/dev-stack.ts";
import { startWorker } from "../stack/jobs.ts";
import type { ReceiverJobs } from "./receiver-worker.ts";

/** A receiver of webhook events in a process of its own. */
export type Receiver = ReceiverJobs & {
  readonly pid: number;
  /** `host:port`, as endpoints name it. */
  readonly target: string;
  /** Its certificate, which nobody else vouches for (PEM). */
  readonly ca: string;
};

/** Starts a receiver. */
export async function startReceiver(bench: Bench): Promise<Receiver> {
  const worker = startWorker<ReceiverJobs>(bench, new URL("./receiver-worker.ts", import.meta.url));
  const { cert, key } = makeSelfSigned(Date.now());
  const { pid, jobs } = worker;
  const target = await jobs.listen(cert, key);
  const { listen, expect, arrived, tell, bytes } = jobs;
  return { pid, target, ca: cert, listen, expect, arrived, tell, bytes };
}
