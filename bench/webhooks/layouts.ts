import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DELIVERIES_RUN } from "../product/deliveries-run.ts";
import { type ProductGround, startProductProcess } from "../product/start-product.ts";
import type { Bench } from "../run/bench.ts";
import type { Side } from "../run/rounds.ts";
import { startCore } from "../sides/core-process.ts";
import { fileOf, PRODUCT_FLAGS, serveProcess } from "../sides/served-process.ts";
import { deliveryEnv } from "../stack/servers.ts";

/** The product laid out over processes; new each time it is started. */
export type Layout = Side & { corePort(): number };

/** What runs of a layout: what it writes to, and its processes. */
type Running = {
  readonly corePort: number;
  readonly pids: readonly number[];
  stop(): Promise<void>;
};

export const LAYOUTS = {
  "one-process": { label: "one process", run: startOneProcess },
  "own-process": { label: "deliveries in a process of their own", run: startOwnProcess },
};
export type LayoutName = keyof typeof LAYOUTS;
export const LAYOUT_NAMES = Object.keys(LAYOUTS) as LayoutName[]; // it has no other keys

/** Makes a layout, which is warmed up whenever it is started; `beside` are processes that work with it. */
export function createLayout(
  bench: Bench,
  name: LayoutName,
  on: ProductGround,
  beside: Side["pids"],
  warmUp: (layout: Layout) => Promise<unknown>,
): Layout {
  let running: Running | undefined;
  return {
    name,
    get pids() {
      return { product: running?.pids ?? [], ...beside };
    },
    corePort: () => running?.corePort ?? 0,
    async start() {
      running = await LAYOUTS[name].run(bench, on);
      await warmUp(this);
    },
    async stop() {
      await running?.stop();
    },
  };
}

/** Starts core, gateway and deliveries in one process, as `npm start` does. */
async function startOneProcess(bench: Bench, on: ProductGround): Promise<Running> {
  const product = startProductProcess(bench, on);
  const { corePort } = await product.deliver();
  return { corePort, pids: [product.pid], stop: product.stop };
}

/** Starts the core, and the deliveries apart from it, as they run in production. */
async function startOwnProcess(bench: Bench, on: ProductGround): Promise<Running> {
  const { store, temporal, receiver, folder } = on;
  const env = { ...store.env, ...deliveryEnv(temporal, receiver) };
  const core = await startCore(bench, "webhooks-core", env);
  const caFile = join(folder, "receiver.pem");
  await writeFile(caFile, receiver.ca);
  const deliveries = await serveProcess({
    ...{ name: "webhooks-deliveries", file: fileOf("workflows/src/main.ts"), flags: PRODUCT_FLAGS },
    serves: { whenWritten: DELIVERIES_RUN },
    env: {
      ...{ ...env, CORE_URL: `http://127.0.0.1:${core.port}`, CORE_CREDENTIAL: store.credential },
      WEBHOOK_EXTRA_CA: caFile,
    },
  });
  bench.closeLater(deliveries.stop);
  return {
    corePort: core.port,
    pids: [core.pid, deliveries.pid],
    async stop() {
      await deliveries.stop();
      await core.stop();
    },
  };
}
