import type { Activity } from "../contract.ts";

/** A listener with more unread bytes is cut off. When it reconnects, it misses the records that are no longer kept. */
export const MAX_UNREAD_BYTES = 1_048_576;
/** How often a ping checks a connection. */
export const PING_EVERY_MS = 15_000;

/** An overlay or bot that receives each record. */
export interface Listener {
  send(activity: Activity): void;
  close(): void;
  onClose(call: () => void): void;
}
