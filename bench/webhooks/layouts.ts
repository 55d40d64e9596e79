import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DELIVERIES_RUN } from "../product/deliveries-run.ts";
import { type ProductGround, startProductProcess } from "../product/start-product.ts";
import type { Bench } from "../run/bench.ts";
import type { Side } from "../run/rounds.ts";
import { startCore, startProgram } from "../sides/programs.ts";
import { deliveryEnv } from "../stack/servers.ts";

/** A running layout: the core's port and the processes. */
type Running = { readonly corePort: number; readonly pids: number[]; stop(): Promise<void> };
/** A division of the product into processes. Each start creates new processes. */
export type Layout = Side & { corePort(): number };

/** The measured divisions of the product into processes. */
export const LAYOUTS = {
  "one-process": { label: "one process", start: startOneProcess },
  "own-process": { label: "deliveries in a process of their own", start: startOwnProcess },
};
export type LayoutName = keyof typeof LAYOUTS;
export const LAYOUT_NAMES = Object.keys(LAYOUTS) as LayoutName[]; // its keys are the layouts

/** Creates a layout that warms up at every start. */
export function createLayout(
  bench: Bench,
  name: LayoutName,
  on: ProductGround,
  warmUp: (layout: Layout) => Promise<unknown>,
): Layout {
  let running: Running | undefined;
  return {
    name,
    get pids() {
      return { product: running?.pids ?? [] };
    },
    corePort: () => running?.corePort ?? 0,
    async start() {
      running = await LAYOUTS[name].start(bench, on);
      await warmUp(this);
    },
    stop: async () => running?.stop(),
  };
}

/** Starts core, gateway and deliveries in one process, as `npm start` does. */
async function startOneProcess(bench: Bench, on: ProductGround): Promise<Running> {
  const product = startProductProcess(bench, on);
  const { corePort } = await product.deliver();
  return { corePort, pids: [product.pid], stop: product.stop };
}

/** Starts the core and the deliveries as separate processes, as in production. */
async function startOwnProcess(bench: Bench, on: ProductGround): Promise<Running> {
  const { store, temporal, receiver } = on;
  const env = { ...store.env, ...deliveryEnv(temporal, receiver) };
  const core = await startCore(bench, "webhooks-core", env);
  const WEBHOOK_EXTRA_CA = join(store.folder, "receiver.pem");
  await writeFile(WEBHOOK_EXTRA_CA, receiver.ca);
  const [CORE_URL, CORE_CREDENTIAL] = [`http://127.0.0.1:${core.port}`, store.credential];
  const program = { name: "webhooks-deliveries", path: "workflows/src/main.ts" };
  const deliveries = await startProgram(
    bench,
    { ...program, env: { ...env, CORE_URL, CORE_CREDENTIAL, WEBHOOK_EXTRA_CA } },
    { whenWritten: DELIVERIES_RUN },
  );
  const stop = async () => {
    await deliveries.stop();
    await core.stop();
  };
  return { corePort: core.port, pids: [core.pid, deliveries.pid], stop };
}
