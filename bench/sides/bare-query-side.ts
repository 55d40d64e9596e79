import { fileURLToPath } from "node:url";
import type { BareQueryJob } from "../bare-query/bare-query-worker.ts";
import { startWorker } from "../load/jobs.ts";
import type { Sample } from "../measure/sample.ts";
import { type Side, SideName, type SideOptions } from "./side.ts";

/** As the product's. */
const CONNECTIONS = 10;
const FILE = fileURLToPath(new URL("../bare-query/bare-query-worker.ts", import.meta.url));

/** Starts the loop of the page query alone: what no server on this database can be faster than. */
export function startBareQuery({ databaseUrl, accounts, concurrency }: SideOptions): Side {
  const worker = startWorker<BareQueryJob, Sample>(FILE);
  return {
    name: SideName.BareQuery,
    label: "bare page query",
    pids: [worker.pid],
    loadPids: [],
    prepare: async () => {},
    run: (workload, seconds) =>
      worker.run({
        ...{ databaseUrl, connections: CONNECTIONS, accounts },
        ...{ workload, concurrency, seconds },
      }),
    async stop() {
      worker.stop();
    },
  };
}
