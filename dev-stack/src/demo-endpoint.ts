import { WebhookEventKind } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Clients, createClients } from "./demo.ts";
import type { DemoReceiver } from "./demo-receiver.ts";
import type { LocalSettings } from "./local-settings.ts";

const KINDS = [
  WebhookEventKind.DONATION_CREATED,
  WebhookEventKind.DONATION_REFUNDED,
  WebhookEventKind.DONATION_CHARGEBACK,
  WebhookEventKind.SUBSCRIPTION_CREATED,
];

/** Makes sure that the demo account has an endpoint at this machine's receiver, where it listens now. */
export async function ensureDemoEndpoint(
  settings: LocalSettings,
  { port, target }: DemoReceiver,
): Promise<LocalSettings> {
  const { coreUrl, serviceCredential, demo, receiver } = settings;
  if (coreUrl === undefined || serviceCredential === undefined || demo === undefined) {
    return settings;
  }
  const { endpoints } = createClients(coreUrl, serviceCredential);
  const { accountId } = demo;
  const url = `https://${target}/webhooks`;
  if (receiver && (await moveEndpoint(endpoints, accountId, receiver.endpointId, url))) {
    return { ...settings, receiver: { ...receiver, port } };
  }
  const request = { accountId, url, kinds: { kinds: KINDS } };
  const { endpoint, secret } = await endpoints.createEndpoint(request);
  return { ...settings, receiver: { port, endpointId: endpoint?.id ?? "", secret } };
}

/** Gives an endpoint its URL; returns false when there is none. */
async function moveEndpoint(
  endpoints: Clients["endpoints"],
  accountId: string,
  endpointId: string,
  url: string,
): Promise<boolean> {
  try {
    await endpoints.updateEndpoint({ accountId, endpointId, url });
    return true;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return false;
    throw error;
  }
}
