import type { Activity } from "../contract.ts";

/** Who does not read for so many bytes is cut off, and may come back for what it missed. */
export const MAX_UNREAD_BYTES = 1_048_576;
/** How often a connection without records is tried. */
export const PING_EVERY_MS = 15_000;

/** An overlay or a bot that is told of each record. */
export interface Listener {
  send(activity: Activity): void;
  close(): void;
  onClose(call: () => void): void;
}
