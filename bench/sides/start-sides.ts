import { fileURLToPath } from "node:url";
import { cacheFolder } from "../../tools/stack/cache-folder.ts";
import type { Progress } from "../../tools/stack/progress.ts";
import { type RunningRedis, startRedis } from "../../tools/stack/redis.ts";
import { startWorker } from "../load/jobs.ts";
import type { LoadJob } from "../load/load-worker.ts";
import type { Sample } from "../measure/sample.ts";
import { startBareQuery } from "./bare-query-side.ts";
import {
  type LoadWorker,
  startBareHttp,
  startFastify,
  startOneProcess,
  startTwoProcesses,
} from "./http-sides.ts";
import { type Side, SideName, type SideOptions } from "./side.ts";

const LOAD_WORKER = fileURLToPath(new URL("../load/load-worker.ts", import.meta.url));
const USES_REDIS = new Set<SideName>([SideName.OneProcessRedis, SideName.FastifyRedis]);

/** The sides of a run, in the order in which they take turns. */
export type RunningSides = {
  readonly sides: readonly Side[];
  stop(): Promise<void>;
};

/** Starts sides and what they need beside the database; leaves nothing running when one fails. */
export async function startSides(
  names: readonly SideName[],
  options: SideOptions,
  progress: Progress,
): Promise<RunningSides> {
  const load: LoadWorker = startWorker<LoadJob, Sample | undefined>(LOAD_WORKER);
  const sides: Side[] = [];
  let redis: RunningRedis | undefined;
  const stop = async () => {
    load.stop();
    await Promise.all(sides.map((side) => side.stop()));
    await redis?.stop();
  };
  try {
    if (names.some((name) => USES_REDIS.has(name))) {
      const { env } = process;
      redis = await startRedis({ env, cacheDir: cacheFolder(env), progress });
    }
    for (const name of names) sides.push(await startSide(name, options, load, redis?.url));
    return { sides, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startSide(
  name: SideName,
  options: SideOptions,
  load: LoadWorker,
  redisUrl: string | undefined,
): Promise<Side> {
  switch (name) {
    case SideName.OneProcess:
      return startOneProcess(options, load);
    case SideName.TwoProcesses:
      return startTwoProcesses(options, load);
    case SideName.Fastify:
      return startFastify(options, load);
    case SideName.BareQuery:
      return startBareQuery(options);
    case SideName.BareHttp:
      return startBareHttp(options, load);
    case SideName.OneProcessRedis:
      return startOneProcess(options, load, redisUrl);
    case SideName.FastifyRedis:
      return startFastify(options, load, redisUrl);
  }
}
