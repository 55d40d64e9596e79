import { type Clients, createClients } from "../../../dev-stack/src/demo.ts";
import type { DeliveryWorkflows } from "../../../workflows/src/config.ts";
import type { ProductJob } from "./product-worker.ts";
import type { ProductWorker } from "./start-product-worker.ts";

/** The product in its process. */
export type ProductControl = {
  /** Runs it without deliveries: what is written waits. Returns who may write. */
  collect(): Promise<Clients>;
  /** Runs it with deliveries, of which these runs are workflows; resolves when it begins to claim. */
  deliver(workflows?: DeliveryWorkflows): Promise<Clients>;
  stop(): Promise<void>;
};

/** Makes the process of the product do what a run needs. */
export function createProductControl(
  process: ProductWorker,
  credential: string,
  settings: Omit<Extract<ProductJob, { do: "run" }>, "do" | "delivers">,
): ProductControl {
  const run = async (delivers: boolean, workflows: DeliveryWorkflows = "retries") => {
    const env = { ...settings.env, DELIVERY_WORKFLOWS: workflows };
    const { corePort } = await process.run({ do: "run", delivers, ...settings, env });
    return createClients(`http://127.0.0.1:${corePort}`, credential);
  };
  return {
    collect: () => run(false),
    deliver: (workflows) => run(true, workflows),
    async stop() {
      await process.run({ do: "stop" });
    },
  };
}
