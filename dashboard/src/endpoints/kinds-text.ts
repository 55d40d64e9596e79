import type { WebhookEventKind } from "@activity/proto";
import { texts } from "../texts.ts";

/** Lists kinds by the names that receivers get. */
export function kindsText(kinds: readonly WebhookEventKind[]): string {
  return kinds.map((kind) => texts.deliveries.kinds[kind]).join(", ");
}
