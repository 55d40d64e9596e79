import { ApiKeyService, DeliveryService, DeliveryState, WebhookEventKind } from "@activity/proto";
import { vi } from "vitest";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { createAccount, createEndpoint, createPaidDonation } from "../harness/builders.ts";
import type { Clients } from "../harness/clients.ts";
import type { TracedProduct } from "./harness-traced-product.ts";

/** The trace of a caller's own work. */
export const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const DONOR = "Ada of the hidden name";
const WORDS = 'It\'s a "hidden" \\ message; SELECT 1';

/** What an account did, and the texts that no trace may show. */
export type Story = {
  readonly accountId: string;
  readonly apiKey: string;
  readonly hidden: readonly string[];
};

/**
 * A donation is paid in a sampled trace of the caller. The receiver refuses the first attempt and its process ends.
 * Another process makes the retry, which succeeds.
 */
export async function tellStory(product: TracedProduct): Promise<Story> {
  const { client, database, receiver } = product;
  const accountId = await createAccount(product, { displayName: DONOR });
  const key = { accountId, name: DONOR, validityDays: 30 };
  const { apiKey, secret: apiKeyText } = await client(ApiKeyService).createApiKey(key);
  const { endpointId, secret } = await createEndpoint(product, accountId, product.receiverUrl, [
    WebhookEventKind.DONATION_CREATED,
  ]);
  await donate(product, accountId, "01");
  const deliveries = client(DeliveryService);
  const untilState = (state: DeliveryState) =>
    vi.waitUntil(
      async () => {
        const { deliveries: all } = await deliveries.listDeliveries({ accountId });
        return all.find((each) => each.state === state);
      },
      { timeout: 40_000, interval: 100 },
    );
  const { id, eventId } = await untilState(DeliveryState.RETRYING);
  receiver.behaviour = answer(200);
  // Skips the minute before the retry.
  await database.query("UPDATE delivery SET next_attempt_at = next_attempt_at - 60000000");
  await database.query("UPDATE delivery_attempt SET started_at = started_at - 60000000");
  await product.restartDeliveriesWithTemporal();
  await untilState(DeliveryState.DELIVERED);
  const ids = [accountId, apiKey?.id ?? "", endpointId, id, eventId];
  const texts = [DONOR, WORDS, "hidden", apiKeyText, secret, product.receiverUrl];
  return {
    accountId,
    apiKey: apiKeyText,
    hidden: [...ids, ...texts, `:${receiver.port}`, ...product.secrets],
  };
}

/** Pays a donation in the caller's trace, sampled (`01`) or not (`00`). */
export async function donate(
  { client }: TracedProduct,
  accountId: string,
  flags: "00" | "01",
): Promise<void> {
  const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-${flags}`;
  const traced: Clients = (service) => client(service, { traceparent });
  await createPaidDonation({ client: traced }, accountId, { donorName: DONOR, message: WORDS });
}
