import { WebhookEventKind } from "@activity/proto";
import { openDatabaseProxy } from "../../test/harness/database-proxy.ts";
import { connectTemporal } from "../floor/floor.ts";
import { readTemporalCost } from "../floor/temporal-cost.ts";
import { donate, donationKeys, makeTargets } from "../load/targets.ts";
import { countEach, type Figures, until } from "../measure/figures.ts";
import { startWatch } from "../measure/watch.ts";
import { startProductProcess } from "../product/start-product.ts";
import { startReceiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { type BenchStore, startBenchTemporal } from "../stack/servers.ts";
import { countersOf } from "./counters.ts";
import { storedIn } from "./stored.ts";

/** How much of everything a run makes. */
export type CostSettings = {
  readonly accounts: number;
  /** Donations that are written and delivered one after the other. */
  readonly oneByOne: number;
  /** Donations that are written 50 at once; what they leave behind is what is stored. */
  readonly together: number;
  /** Whether to wait until the attempts are counted, half a minute, so that it is among the costs. */
  readonly counts: boolean;
  /** Donations whose first attempt fails, so that a minute later there is a second; 0 leaves them out. */
  readonly retried: number;
};

/** What a donation costs in each way; those written together tell also what one has left behind. */
export type Costs = {
  readonly oneByOne: Figures;
  readonly together: Figures;
  readonly retried: Figures | undefined;
};

const MESSAGE = "For the stream! Greetings from all of us, and good luck with the boss.";
const TEXT = { donorName: "Ada Lovelace", message: MESSAGE };
/** Seldom enough that the bytes of asking do not show. */
const POLL_MS = 250;
const TO_SEND = "SELECT COUNT(*) FROM outbox_entry";
/** First attempts that are not recorded. */
const TO_BEGIN = "SELECT COUNT(*) FROM delivery WHERE attempts = 0";
/** The stored numbers of DeliveryState.PENDING and RETRYING. */
const RUNNING = "SELECT COUNT(*) FROM delivery WHERE state IN (1, 2)";
/** What is recorded is counted within half a minute. */
const TO_COUNT = "SELECT COUNT(*) FROM delivery_attempt WHERE counted = FALSE";

/** Writes donations in each way, and counts until each is delivered, recorded and counted. */
export async function measureCosts(bench: Bench<CostSettings>, store: BenchStore): Promise<Costs> {
  const { settings, progress, closeLater } = bench;
  const temporal = await startBenchTemporal(bench, store.folder);
  const receiver = await startReceiver(bench);
  const proxy = await openDatabaseProxy(store.databaseUrl);
  closeLater(proxy.close);
  const ground = { store, temporal, receiver, folder: store.folder };
  const product = startProductProcess(bench, ground);
  const client = await connectTemporal(bench, temporal.address);
  const watch = startWatch(bench, store.databaseUrl);
  const { clients } = await product.deliver({ DATABASE_URL: proxy.url });
  const kind = WebhookEventKind.DONATION_CREATED;
  const accountIds = await makeTargets(clients, receiver, kind, "bench", settings.accounts);

  const counter = countersOf({ proxy, watch, receiver, folder: store.folder });
  const none = (sql: string) => until(async () => (await watch.number(sql)) === 0, POLL_MS);
  const keys = (name: string, count: number) => donationKeys(accountIds, count, name);
  const measure = (label: string, count: number, work: () => Promise<void>) =>
    progress.step(label, async () => {
      const sinceMs = Date.now();
      const figures = await countEach([counter], async () => {
        await work();
        return { count };
      });
      const { actions } = await readTemporalCost(client, sinceMs);
      return { ...figures, actions: actions / count };
    });

  const oneByOne = await measure("One by one", settings.oneByOne, async () => {
    for (const key of keys("alone", settings.oneByOne)) {
      await receiver.jobs.expect(200, "");
      await donate(clients, [key], TEXT);
      await receiver.jobs.arrived(1);
    }
    await none(TO_SEND);
  });
  const writeTogether = async () => {
    await receiver.jobs.expect(200, "");
    await donate(clients, keys("together", settings.together), TEXT);
    await receiver.jobs.arrived(settings.together);
    await none(TO_SEND);
    if (settings.counts) await none(TO_COUNT);
  };
  const together = await countEach([storedIn(watch)], () =>
    measure("50 at once", settings.together, writeTogether),
  );
  /** Fails the first attempt of each, and takes the second, a minute later. */
  const retryOnce = async () => {
    await receiver.jobs.expect(500, "");
    await donate(clients, keys("retried", settings.retried), TEXT);
    // The answer to what has just arrived is not sent yet.
    await none(TO_BEGIN);
    await receiver.jobs.expect(200, "");
    await receiver.jobs.arrived(settings.retried);
    await none(RUNNING);
    await none(TO_COUNT);
  };
  const isRetried = settings.retried > 0;
  const retried = isRetried
    ? await measure("Retried once", settings.retried, retryOnce)
    : undefined;
  return { oneByOne, together, retried };
}
