import { WebhookEventKind } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { createClients, type DemoSettings } from "./demo-account.ts";
import type { DemoReceiver } from "./demo-receiver.ts";

const KINDS = [
  WebhookEventKind.DONATION_CREATED,
  WebhookEventKind.DONATION_REFUNDED,
  WebhookEventKind.DONATION_CHARGEBACK,
  WebhookEventKind.SUBSCRIPTION_CREATED,
];

/**
 * Makes the demo account's endpoint point to the receiver's current address. Creates the endpoint if it is missing.
 */
export async function ensureDemoEndpoint(
  settings: DemoSettings,
  { port, target }: DemoReceiver,
): Promise<DemoSettings> {
  const { coreUrl, serviceCredential, demo, receiver } = settings;
  const { endpoints } = createClients(coreUrl, serviceCredential);
  const at = { accountId: demo.accountId, url: `https://${target}/webhooks` };
  if (receiver !== undefined) {
    try {
      await endpoints.updateEndpoint({ ...at, endpointId: receiver.endpointId });
      return { ...settings, receiver: { ...receiver, port } };
    } catch (error) {
      if (ConnectError.from(error).code !== Code.NotFound) throw error;
    }
  }
  const { endpoint, secret } = await endpoints.createEndpoint({ ...at, kinds: { kinds: KINDS } });
  return { ...settings, receiver: { port, endpointId: endpoint?.id ?? "", secret } };
}
