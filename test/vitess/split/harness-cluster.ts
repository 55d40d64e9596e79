import { createProgress } from "../../../dev-stack/src/progress.ts";
import type { ServerVictim } from "../../delivery/crash/harness-servers.ts";
import { startVitessCluster, type VitessCluster } from "./harness-vitess-cluster.ts";

/** A Vitess of processes in the place of a stack's own database, which are killed one by one. */
export type VitessVictim = ServerVictim & { cluster(): VitessCluster };

export function vitessVictim(dataDir: string, shards: number): VitessVictim {
  let running: VitessCluster | undefined;
  const cluster = () => {
    if (running === undefined) throw new Error("Vitess does not run");
    return running;
  };
  return {
    cluster,
    address: () => running?.url ?? "",
    isRunning: () => running !== undefined,
    async start() {
      const progress = createProgress();
      running = await startVitessCluster({ env: process.env, dataDir, progress, shards });
    },
    async kill() {
      await running?.stop();
      running = undefined;
    },
  };
}
