import { WebhookEventKind } from "@activity/proto";
import { openDatabaseProxy } from "../../test/harness/database-proxy.ts";
import { readTemporalCost } from "../floor/temporal-cost.ts";
import { donate, donationKeys, makeTargets } from "../load/targets.ts";
import { countEach, type Figures, until } from "../measure/figures.ts";
import type { Bench } from "../run/bench.ts";
import type { DeliveryStack } from "../stack/delivery-stack.ts";
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
export type Costs = Readonly<Record<"oneByOne" | "together", Figures>> & {
  readonly retried: Figures | undefined;
};

const MESSAGE = "For the stream! Greetings from all of us, and good luck with the boss.";
const TEXT = { donorName: "Ada Lovelace", message: MESSAGE };
/** Seldom enough that the bytes of asking do not show. */
const POLL_MS = 250;
const TO_SEND = "outbox_entry";
/** First attempts that are not recorded. */
const TO_BEGIN = "delivery WHERE attempts = 0";
/** The stored numbers of DeliveryState.PENDING and RETRYING. */
const RUNNING = "delivery WHERE state IN (1, 2)";
/** What is recorded is counted within half a minute. */
const TO_COUNT = "delivery_attempt WHERE counted = FALSE";

/** Writes donations in each way, and counts until each is delivered, recorded and counted. */
export async function measureCosts(
  { settings, progress, closeLater }: Bench<CostSettings>,
  { store, receiver, product, client, watch }: DeliveryStack,
): Promise<Costs> {
  const proxy = await openDatabaseProxy(store.databaseUrl);
  closeLater(proxy.stop);
  const { clients } = await product.deliver({ DATABASE_URL: proxy.url });
  const kind = WebhookEventKind.DONATION_CREATED;
  const accountIds = await makeTargets(clients, receiver.target, kind, "bench", settings.accounts);
  const counter = countersOf({ proxy, watch, receiver, folder: store.folder });
  const none = (from: string) =>
    until(async () => (await watch.number(`SELECT COUNT(*) FROM ${from}`)) === 0, POLL_MS);
  const write = (name: string, count: number) =>
    donate(clients, donationKeys(accountIds, count, name), TEXT);
  const measure = (label: string, count: number, work: () => Promise<void>) =>
    progress.step(label, async () => {
      const sinceMs = Date.now();
      const figures = await countEach([counter], () => work().then(() => ({ count })));
      const { actions } = await readTemporalCost(client, sinceMs);
      return { ...figures, actions: actions / count };
    });

  const { oneByOne, together, counts, retried } = settings;
  const writeOneByOne = async () => {
    for (const key of donationKeys(accountIds, oneByOne, "alone")) {
      await receiver.jobs.expect(200, "");
      await donate(clients, [key], TEXT);
      await receiver.jobs.arrived(1);
    }
    await none(TO_SEND);
  };
  const writeTogether = async () => {
    await receiver.jobs.expect(200, "");
    await write("together", together);
    await receiver.jobs.arrived(together);
    await none(TO_SEND);
    if (counts) await none(TO_COUNT);
  };
  /** Fails the first attempt of each, and takes the second, a minute later. */
  const retryOnce = async () => {
    await receiver.jobs.expect(500, "");
    await write("retried", retried);
    // The answer to what has just arrived is not sent yet.
    await none(TO_BEGIN);
    await receiver.jobs.expect(200, "");
    await receiver.jobs.arrived(retried);
    await none(RUNNING);
    await none(TO_COUNT);
  };
  return {
    oneByOne: await measure("One by one", oneByOne, writeOneByOne),
    together: await countEach([storedIn(watch)], () =>
      measure("50 at once", together, writeTogether),
    ),
    retried: retried > 0 ? await measure("Retried once", retried, retryOnce) : undefined,
  };
}
