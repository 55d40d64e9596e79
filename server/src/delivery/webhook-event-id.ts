import { newId } from "../ids.ts";

/** Returns a new webhook event id: `wev_` and 15 characters, no dot, as both signatures want it. */
export function newWebhookEventId(): string {
  return `wev_${newId()}`;
}
