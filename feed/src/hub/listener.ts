import type { Activity } from "../contract.ts";

/** A listener with more unread bytes is cut off. It can reconnect and get what it missed. */
export const MAX_UNREAD_BYTES = 1_048_576;
/** How often a ping checks a connection. */
export const PING_EVERY_MS = 15_000;

/** An overlay or bot that receives each record. */
export interface Listener {
  send(activity: Activity): void;
  close(): void;
  onClose(call: () => void): void;
}
