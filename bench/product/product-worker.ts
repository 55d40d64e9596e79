import { closeSync, openSync, writeSync } from "node:fs";
import { createLog, createLogWriter, readConfig } from "@activity/server";
import { readDeliveryConfig } from "@activity/workflows";
import { startProduct } from "../../tools/serve/product.ts";
import { answerJobs } from "../stack/jobs.ts";
import { DELIVERIES_RUN } from "./deliveries-run.ts";
import { startProfiler } from "./profiler.ts";

/** How the product runs. */
export type ProductRun = {
  /** Whether webhook events are delivered, or wait. */
  readonly delivers: boolean;
  /** As `npm start` gets them. */
  readonly env: Readonly<Record<string, string>>;
  readonly receiverCa: string;
  readonly logFile: string;
  /** Where to leave a CPU profile of the deliveries, and of nothing else. */
  readonly profileFile?: string | undefined;
};

let end = async () => {};

const jobs = {
  /** Runs the product anew; when it delivers, the relay claims by then. Returns where core and gateway listen. */
  async run(how: ProductRun): Promise<{ corePort: number; gatewayPort: number }> {
    await jobs.stop();
    const { delivers, env, receiverCa, logFile, profileFile } = how;
    const file = openSync(logFile, "a");
    const writer = createLogWriter((text) => writeSync(file, text));
    const log = createLog(writer.write);
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const info: typeof log.info = (message, fields) => {
      if (message === DELIVERIES_RUN) resolve();
      log.info(message, fields);
    };
    const product = await startProduct({
      core: readConfig(env),
      gateway: { host: "127.0.0.1", port: 0, trustedProxies: ["127.0.0.1/32"] },
      deliveries: delivers ? { ...readDeliveryConfig(env), extraCa: receiverCa } : undefined,
      log: { ...log, info },
    });
    if (delivers) await begun;
    const endProfile = delivers && profileFile ? await startProfiler(profileFile) : undefined;
    end = async () => {
      await endProfile?.();
      await product.stop();
      writer.flush();
      closeSync(file);
    };
    const { corePort, gatewayPort } = product;
    return { corePort, gatewayPort };
  },
  async stop(): Promise<void> {
    const ending = end;
    end = async () => {};
    await ending();
  },
};
export type ProductJobs = typeof jobs;

answerJobs(jobs);
