import { fileURLToPath } from "node:url";
import { startWorker } from "../../load/jobs.ts";
import type { Arrived } from "./arrivals.ts";
import type { ReceiverAnswer, ReceiverJob } from "./receiver-worker.ts";

/** A receiver of webhook events in a process of its own. */
export type Receiver = {
  readonly pid: number;
  /** `host:port`, as endpoints name it. */
  readonly target: string;
  /** Its certificate, which nobody else vouches for (PEM). */
  readonly ca: string;
  /** Forgets what came, and counts the events of this run from now on. */
  expect(run: string): Promise<void>;
  /** Waits until `events` different ones have come, or none for `quietMs`; tells what came. */
  arrived(events: number, quietMs: number): Promise<Arrived>;
  stop(): void;
};

const FILE = fileURLToPath(new URL("./receiver-worker.ts", import.meta.url));

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const worker = startWorker<ReceiverJob, ReceiverAnswer>(FILE);
  const { target, ca } = await worker.run({ do: "expect", run: "" });
  return {
    pid: worker.pid,
    target,
    ca,
    async expect(run) {
      await worker.run({ do: "expect", run });
    },
    arrived: async (events, quietMs) =>
      (await worker.run({ do: "await", events, quietMs })).arrived,
    stop: worker.stop,
  };
}
