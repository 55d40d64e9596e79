import { createLog } from "@activity/runtime/log";
import { createLogWriter, readConfig } from "@activity/server";
import { startProduct } from "../../tools/serve/product.ts";

/** Runs core and gateway, without deliveries, in this process until a signal. */
async function main(): Promise<void> {
  const { GATEWAY_PORT = "0", TRUSTED_PROXIES = "" } = process.env;
  const writer = createLogWriter((text) => process.stdout.write(text));
  const product = await startProduct({
    core: readConfig(process.env),
    gateway: {
      host: "127.0.0.1",
      port: Number(GATEWAY_PORT),
      trustedProxies: TRUSTED_PROXIES.split(","),
    },
    log: createLog(writer.write),
  });
  const stop = async () => {
    await product.stop();
    writer.flush();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

await main();
