import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createProgress } from "../dev-stack/src/progress.ts";
import { startTemporal } from "../dev-stack/src/temporal.ts";
import { BENCH_CACHE } from "./data/bench-database.ts";
import { startReceiver } from "./deliver/receiver.ts";
import { describeMachine } from "./report/machine.ts";
import { publish } from "./report/publish.ts";
import { runMain, stopOnSignal } from "./run-main.ts";
import type { MeasuredSide } from "./shards/cases/measure-case.ts";
import { measureSides } from "./shards/measure.ts";
import { type Results, toMarkdown } from "./shards/report/markdown.ts";
import { isWhole, readSettings, type Settings, USAGE } from "./shards/settings.ts";
import { startSide } from "./shards/sides.ts";
import { startPlainStore, startShardedStore } from "./shards/stores.ts";
import { createClosing } from "./stack/closing.ts";

const progress = createProgress();

/** Measures the product on a Vitess of 1, 2 and 4 shards beside the same MySQL without one. */
async function main(settings: Settings): Promise<void> {
  const closing = createClosing();
  stopOnSignal(closing.closeAll);
  try {
    const folder = join(BENCH_CACHE, "shards");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    closing.add(() => rm(folder, { recursive: true, force: true }));
    const { TEMPORAL_ADDRESS: _, ...env } = process.env;
    const temporal = await startTemporal({ env, dataDir: join(folder, "temporal"), progress });
    closing.add(temporal.stop);
    const receiver = await startReceiver();
    closing.add(receiver.stop);
    const stores = [await startPlainStore(folder, closing, progress)];
    for (const shards of settings.shards) {
      stores.push(await startShardedStore(folder, shards, closing, progress));
    }
    const options = { folder, temporalAddress: temporal.address, receiver };
    const sides: MeasuredSide[] = [];
    for (const store of stores) {
      sides.push(await startSide(store, options, settings, closing, progress));
    }
    const rounds = await measureSides(sides, receiver, settings, closing, progress);
    const machine = describeMachine(stores[0]?.version ?? "");
    const labels = stores.map(({ label }) => label);
    const results: Results = { machine, settings, sides: labels, rounds };
    await publish(results, toMarkdown(results), isWhole(settings) ? "shards" : undefined);
  } finally {
    await closing.closeAll();
  }
}

await runMain(USAGE, (args) => main(readSettings(args)));
