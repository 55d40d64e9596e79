import { WebhookEventKind } from "@activity/proto";
import { readTemporalCost } from "../floor/temporal-cost.ts";
import { openTemporalState } from "../floor/temporal-state.ts";
import { countEach, type Figures } from "../measure/figures.ts";
import { cpuOf } from "../measure/process-usage.ts";
import { secondsSince, sharedNowMs } from "../measure/sample.ts";
import type { Bench } from "../run/bench.ts";
import { keptSide } from "../run/rounds.ts";
import { makeOneAndMany, startDeliveryStack } from "../stack/delivery-stack.ts";

/** A running side, its processes and its accounts. */
export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Starts a side in its own folder. */
export async function startStack(
  bench: Bench<{ readonly accounts: number }>,
  name: string,
  folder: string,
  profileFolder?: string,
) {
  const stack = await startDeliveryStack(bench, folder, profileFolder);
  const { product, floor, temporal, store, receiver } = stack;
  const state = openTemporalState(temporal.stateFile);
  bench.closeLater(state.close);
  const kind = WebhookEventKind.DONATION_CREATED;
  const accountIds = await makeOneAndMany(stack, kind, bench.settings.accounts);
  const pids = {
    ...{ product: product.pid, "floor's worker": floor.pid, Temporal: temporal.pid },
    ...{ database: store.pid, "receiver and load": [process.pid, receiver.pid] },
  };
  return keptSide(name, pids, { ...stack, state, accountIds });
}

/**
 * Measures `work`, which makes `count` deliveries, from now to its end. Their workflows began after `workflowsSinceMs`.
 */
export async function measureCase(
  { watch, pids, client }: Stack,
  count: number,
  work: () => Promise<unknown>,
  workflowsSinceMs = Date.now(),
): Promise<Figures> {
  const startedMs = sharedNowMs();
  const figures = await countEach([cpuOf(pids), watch.statements], async () => {
    await work();
    return { count, perSecond: count / secondsSince(startedMs) };
  });
  const cost = Object.entries(await readTemporalCost(client, workflowsSinceMs));
  return { ...figures, ...Object.fromEntries(cost.map(([name, value]) => [name, value / count])) };
}
