import { WebhookEventKind } from "@activity/proto";

/** The kinds of webhook event, in the order of contract 6.1. */
export const KINDS: readonly WebhookEventKind[] = [
  WebhookEventKind.DONATION_CREATED,
  WebhookEventKind.DONATION_REFUNDED,
  WebhookEventKind.DONATION_CHARGEBACK,
  WebhookEventKind.SUBSCRIPTION_CREATED,
];
