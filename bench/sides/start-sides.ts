import { fileURLToPath } from "node:url";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { type RunningRedis, startRedis } from "../../dev-stack/src/redis.ts";
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
import { type Side, SideName, type SideOptions, TRACED } from "./side.ts";
import { type SpanSink, startSpanSink } from "./span-sink.ts";

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
  let sink: SpanSink | undefined;
  const stop = async () => {
    load.stop();
    await Promise.all(sides.map((side) => side.stop()));
    await redis?.stop();
    sink?.stop();
  };
  try {
    if (names.some((name) => USES_REDIS.has(name))) {
      const { env } = process;
      redis = await startRedis({ env, cacheDir: cacheFolder(env), progress });
    }
    if (names.some((name) => TRACED.has(name))) sink = await startSpanSink();
    const traced = { ...options, tracesUrl: sink?.url };
    for (const name of names)
      sides.push(await startSide(name, TRACED.has(name) ? traced : options, load, redis?.url));
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
    case SideName.OneProcessMetrics:
    case SideName.OneProcessTraced:
      return startOneProcess(name, options, load);
    case SideName.TwoProcesses:
    case SideName.TwoProcessesTraced:
      return startTwoProcesses(options, load);
    case SideName.Fastify:
      return startFastify(options, load);
    case SideName.BareQuery:
      return startBareQuery(options);
    case SideName.BareHttp:
      return startBareHttp(options, load);
    case SideName.OneProcessRedis:
      return startOneProcess(name, options, load, redisUrl);
    case SideName.FastifyRedis:
      return startFastify(options, load, redisUrl);
  }
}
