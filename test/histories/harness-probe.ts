import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { clientsOf } from "../harness/clients.ts";
import { requestOf } from "../harness/http.ts";
import { addRecord, Kind } from "../harness/records.ts";

/** An answered call. Its end is a time of the probe's clock. */
export type TimedCall = { readonly kind: string; readonly endMs: number; readonly ms: number };

type Probed = {
  readonly accountId: string;
  readonly apiKey: string;
  readonly credential: string;
  readonly core: number;
  readonly gateway: number;
};

/** Below an account's limit of 120 reads in 60 seconds. §8 */
const EVERY_MS = 600;
const CALL_MS = 4_000;
/** The newest records, as one page. */
const PATH = "/api/v1/activity?limit=100";

/**
 * Times writes and reads of an account until `stop`, in a thread of its own: the receiver, the checks and the growing
 * history of this thread would delay them. Calls without a good answer do not count.
 */
export function startProbe(probed: Probed) {
  const worker = new Worker(new URL(import.meta.url), { workerData: probed });
  return {
    async stop(): Promise<readonly TimedCall[]> {
      worker.postMessage("stop");
      const [calls] = await once(worker, "message");
      return calls;
    },
  };
}

async function probe({ accountId, apiKey, credential, core, gateway }: Probed): Promise<void> {
  const client = clientsOf(`http://127.0.0.1:${core}`, credential, { defaultTimeoutMs: CALL_MS });
  const headers = { "x-forwarded-for": "203.0.113.250" };
  const calls: TimedCall[] = [];
  let isOver = false;
  parentPort?.once("message", () => {
    isOver = true;
  });
  const time = async (kind: string, call: () => Promise<boolean>) => {
    const beganMs = performance.now();
    const isGood = await Promise.race([call().catch(() => false), wait(CALL_MS, false)]);
    const endMs = performance.now();
    if (isGood) calls.push({ kind, endMs, ms: endMs - beganMs });
  };
  const write = async (externalId: string) => {
    await addRecord(client, Kind.Contribution, { accountId, externalId }, { donorName: "Probe" });
    return true;
  };
  const read = async () => (await requestOf(gateway, PATH, { apiKey, headers })).status === 200;
  for (let count = 0; !isOver; count += 1) {
    await time("write", () => write(`probe-${count}`));
    await time("read", read);
    await wait(EVERY_MS);
  }
  parentPort?.postMessage(calls);
}

if (!isMainThread) await probe(workerData);
