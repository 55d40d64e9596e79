import type { WebhookEventKind } from "@activity/proto";
import { texts } from "../texts.ts";

/** Names kinds as receivers know them. */
export function kindsText(kinds: readonly WebhookEventKind[]): string {
  return kinds.map((kind) => texts.deliveries.kinds[kind]).join(", ");
}
