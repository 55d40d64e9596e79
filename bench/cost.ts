import { LOG_OPTIONS } from "./cost/counters.ts";
import { type CostSettings, measureCosts } from "./cost/donations.ts";
import { costBlocks } from "./cost/report.ts";
import { isSame } from "./report/report.ts";
import { grouped } from "./report/table.ts";
import { runBench } from "./run/bench.ts";
import { startDeliveryStack } from "./stack/delivery-stack.ts";

const full: CostSettings = {
  ...{ accounts: 1_000, oneByOne: 200, together: 10_000, counts: true, retried: 200 },
};
const short: CostSettings = {
  ...{ accounts: 20, oneByOne: 20, together: 300, counts: false, retried: 0 },
};

/** Measures what donations cost in everything but time, and what they leave behind. */
await runBench({ name: "bench:cost", full, short }, async (bench) => {
  const { settings } = bench;
  const stack = await startDeliveryStack(bench, "cost", { serverOptions: LOG_OPTIONS });
  const costs = await measureCosts(bench, stack);
  const { version } = stack.store;
  const { accounts, oneByOne, together, retried } = settings;
  const again = retried > 0 ? `, ${grouped(retried)} of which the first attempt fails` : "";
  const [flavour] = version.split(" ");
  return {
    on: version,
    about: [
      `Donations of ${grouped(accounts)} accounts with one endpoint each: created, paid, told to the endpoint at the first attempt.`,
      `${grouped(oneByOne)} one after the other, ${grouped(together)} written 50 at once${again}.`,
    ],
    blocks: costBlocks(costs),
    figures: costs,
    keptAs: isSame(settings, full) ? `cost-${flavour}` : undefined,
  };
});
