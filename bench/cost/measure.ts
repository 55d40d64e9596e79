import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { until } from "../measure/until.ts";
import { concurrently } from "../stack/targets.ts";
import type { CostStack } from "./cost-stack.ts";
import { countDuring, type Used } from "./counters.ts";
import type { Settings } from "./settings.ts";
import { readStored, type Stored, storedEach } from "./stored.ts";

/** Everything a run measured. */
export type Measured = {
  readonly oneByOne: Used;
  readonly together: Used;
  /** Each of these was delivered by its second attempt. */
  readonly retried: Used | undefined;
  /** What each donation of those written together has left behind. */
  readonly stored: Stored;
};

const MESSAGE = "For the stream! Greetings from all of us, and good luck with the boss.";
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
export async function measure(
  stack: CostStack,
  settings: Settings,
  progress: Progress,
): Promise<Measured> {
  const { watch } = stack;
  const oneByOne = await progress.step("One by one", () =>
    countDuring(stack, settings.oneByOne, async () => {
      for (let turn = 0; turn < settings.oneByOne; turn++) {
        stack.receiver.reset(200);
        await donate(stack, "alone", turn);
        await stack.receiver.arrived(1);
      }
      await none(stack, TO_SEND);
    }),
  );
  const before = await readStored(watch);
  const together = await progress.step("50 at once", () =>
    countDuring(stack, settings.together, () => donateTogether(stack, settings)),
  );
  const stored = storedEach(before, await readStored(watch), settings.together);
  const retried =
    settings.retried > 0
      ? await progress.step("Retried once", () =>
          countDuring(stack, settings.retried, () => retryOnce(stack, settings.retried)),
        )
      : undefined;
  return { oneByOne, together, retried, stored };
}

async function donateTogether(stack: CostStack, { together, counts }: Settings): Promise<void> {
  stack.receiver.reset(200);
  const turns = Array.from({ length: together }, (_, turn) => turn);
  await concurrently(turns, (turn) => donate(stack, "together", turn));
  await stack.receiver.arrived(together);
  await none(stack, TO_SEND);
  if (counts) await none(stack, TO_COUNT);
}

/** Fails the first attempt of each, and takes the second, a minute later. */
async function retryOnce(stack: CostStack, count: number): Promise<void> {
  const { receiver } = stack;
  receiver.reset(500);
  const turns = Array.from({ length: count }, (_, turn) => turn);
  await concurrently(turns, (turn) => donate(stack, "retried", turn));
  // The answer to what has just arrived is not sent yet.
  await none(stack, TO_BEGIN);
  receiver.reset(200);
  await receiver.arrived(count);
  await none(stack, RUNNING);
  await none(stack, TO_COUNT);
}

/** Writes one donation of some account, and pays it: two calls, and one webhook event to one endpoint. */
async function donate({ clients, accountIds }: CostStack, name: string, turn: number) {
  const accountId = accountIds[turn % accountIds.length] ?? "";
  const key = { accountId, externalId: `${name}-${String(turn).padStart(12, "0")}` };
  await clients.donations.createDonation({
    ...{ ...key, amountCents: 500n, currency: "eur", donorName: "Ada Lovelace", message: MESSAGE },
    donatedAt: timestampNow(),
  });
  await clients.donations.payDonation(key);
}

/** Waits until a query counts nothing. */
function none({ watch }: CostStack, sql: string): Promise<void> {
  return until(async () => (await watch.number(sql)) === 0, POLL_MS);
}
