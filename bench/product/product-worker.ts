import { closeSync, openSync, writeSync } from "node:fs";
import { createLog } from "@activity/runtime/log";
import { createLogWriter, readConfig } from "@activity/server";
import { readDeliveryConfig } from "@activity/workflows";
import { startProduct } from "../../tools/serve/product.ts";
import { answerJobs } from "../stack/jobs.ts";
import { DELIVERIES_RUN } from "./deliveries-run.ts";

type Env = Readonly<Record<string, string>>;
let end = async () => {};

const jobs = {
  /**
   * Restarts the product as `npm start` runs it. With a receiver's certificate the product also delivers, and `run`
   * resolves when the first claim begins. Returns the ports of core and gateway.
   */
  async run(env: Env, logFile: string, receiverCa?: string) {
    await jobs.stop();
    const file = openSync(logFile, "a");
    const writer = createLogWriter((text) => writeSync(file, text));
    const log = createLog(writer.write);
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const info: typeof log.info = (message, fields) => {
      if (message === DELIVERIES_RUN) resolve();
      log.info(message, fields);
    };
    const deliveries = receiverCa && { ...readDeliveryConfig(env), extraCa: receiverCa };
    const { corePort, gatewayPort, stop } = await startProduct({
      core: readConfig(env),
      gateway: { host: "127.0.0.1", port: 0, trustedProxies: ["127.0.0.1/32"] },
      deliveries: deliveries || undefined,
      log: { ...log, info },
    });
    if (deliveries) await begun;
    end = async () => {
      await stop();
      writer.flush();
      closeSync(file);
    };
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
