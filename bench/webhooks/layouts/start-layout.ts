import { fileURLToPath } from "node:url";
import { PRODUCT_FLAGS, serveProcess } from "../../sides/served-process.ts";
import { createClosing } from "../../stack/closing.ts";
import { startCoreProcess } from "../../stack/core-process.ts";
import { startProductWorker } from "../../stack/product/start-product-worker.ts";
import { LayoutName, type LayoutOptions, type RunningLayout } from "./layout.ts";

const DELIVERIES = fileURLToPath(new URL("../../../workflows/src/main.ts", import.meta.url));
/** What the deliveries log once they claim. */
const DELIVERIES_RUN = "deliveries run";

/** Starts the product in new processes; it claims by the time this resolves. */
export function startLayout(name: LayoutName, options: LayoutOptions): Promise<RunningLayout> {
  switch (name) {
    case LayoutName.OneProcess:
      return startOneProcess(options, true);
    case LayoutName.OwnProcess:
      return startOwnProcess(options);
  }
}

/** Starts core, gateway and deliveries in one process, as `npm start` does; without deliveries, events wait. */
export async function startOneProcess(
  { env, receiverCa, logFile }: LayoutOptions,
  delivers: boolean,
): Promise<RunningLayout> {
  const worker = startProductWorker();
  const job = { env: { ...env, CORE_PORT: "0" }, receiverCa, logFile, profileFile: undefined };
  try {
    const { corePort } = await worker.run({ do: "run", delivers, ...job });
    return {
      corePort,
      pids: [worker.pid],
      async stop() {
        await worker.run({ do: "stop" });
        worker.stop();
      },
    };
  } catch (error) {
    worker.stop();
    throw error;
  }
}

/** Starts the core, and the deliveries apart from it, as they run in production. */
async function startOwnProcess(options: LayoutOptions): Promise<RunningLayout> {
  const { env, credential, receiverCaFile } = options;
  const closing = createClosing();
  try {
    const core = await startCoreProcess("webhooks-core", env);
    closing.add(core.stop);
    const deliveries = await serveProcess({
      name: "webhooks-deliveries",
      file: DELIVERIES,
      flags: PRODUCT_FLAGS,
      serves: { whenWritten: DELIVERIES_RUN },
      env: {
        ...env,
        CORE_URL: `http://127.0.0.1:${core.port}`,
        CORE_CREDENTIAL: credential,
        WEBHOOK_EXTRA_CA: receiverCaFile,
      },
      profileFolder: undefined,
    });
    closing.add(deliveries.stop);
    return { corePort: core.port, pids: [core.pid, deliveries.pid], stop: closing.closeAll };
  } catch (error) {
    await closing.closeAll();
    throw error;
  }
}
