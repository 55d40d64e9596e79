import { createProgress } from "../../dev-stack/src/progress.ts";
import type { ServerVictim } from "../delivery/crash/harness-servers.ts";
import { startTemporalCluster, type TemporalCluster } from "./harness-temporal-cluster.ts";

/** A cluster in the place of the stack's own Temporal, whose hosts are killed one by one. */
export type ClusterVictim = ServerVictim & { hosts(): TemporalCluster["hosts"] };

export function clusterVictim(dataDir: string): ClusterVictim {
  let running: TemporalCluster | undefined;
  return {
    address: () => running?.address ?? "",
    hosts: () => running?.hosts ?? [],
    isRunning: () => running !== undefined,
    async start() {
      running = await startTemporalCluster({
        ...{ env: process.env, dataDir, progress: createProgress() },
      });
    },
    async kill() {
      await running?.stop();
      running = undefined;
    },
  };
}
