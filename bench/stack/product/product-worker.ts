import { closeSync, openSync, writeSync } from "node:fs";
import { createLog, createLogWriter, readConfig } from "@activity/server";
import { readDeliveryConfig } from "@activity/workflows";
import { startProduct } from "../../../tools/serve/product.ts";
import { answerJobs } from "../../load/jobs.ts";
import { startProfiler } from "./profiler.ts";

/** Runs the product anew in this process, or stops it. */
export type ProductJob =
  | {
      readonly do: "run";
      /** Whether webhook events are delivered, or wait. */
      readonly delivers: boolean;
      /** As `npm start` gets them. */
      readonly env: Readonly<Record<string, string>>;
      readonly receiverCa: string;
      readonly logFile: string;
      /** Where to leave a CPU profile of the deliveries, and of nothing else. */
      readonly profileFile: string | undefined;
    }
  | { readonly do: "stop" };

/** Where core and gateway listen, once the product runs; when it delivers, the relay claims by then. */
export type ProductAnswer = { readonly corePort: number; readonly gatewayPort: number };

type Running = { end(): Promise<void> };
type RunJob = Extract<ProductJob, { do: "run" }>;

/** What the product logs when the relay has begun. */
const DELIVERIES_RUN = "deliveries run";
let running: Running | undefined;

async function runJob(job: ProductJob): Promise<ProductAnswer> {
  await running?.end();
  running = undefined;
  if (job.do === "stop") return { corePort: 0, gatewayPort: 0 };
  return run(job);
}

/** Starts what `npm start` starts, its log in a file. */
async function run(job: RunJob): Promise<ProductAnswer> {
  const { delivers, env, receiverCa, logFile, profileFile } = job;
  const file = openSync(logFile, "a");
  const writer = createLogWriter((text) => writeSync(file, text));
  const written = createLog(writer.write);
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const info: typeof written.info = (message, fields) => {
    if (message === DELIVERIES_RUN) resolve();
    written.info(message, fields);
  };
  const product = await startProduct({
    core: readConfig(env),
    gateway: { host: "127.0.0.1", port: 0, trustedProxies: ["127.0.0.1/32"] },
    deliveries: delivers ? { ...readDeliveryConfig(env), extraCa: receiverCa } : undefined,
    log: { ...written, info },
  });
  if (delivers) await begun;
  const endProfile = delivers && profileFile ? await startProfiler(profileFile) : undefined;
  running = {
    async end() {
      await endProfile?.();
      await product.stop();
      writer.flush();
      closeSync(file);
    },
  };
  return { corePort: product.corePort, gatewayPort: product.gatewayPort };
}

answerJobs(runJob);
