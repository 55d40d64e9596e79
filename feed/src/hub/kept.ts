import type { Activity } from "../contract.ts";
import { MAX_UNREAD_BYTES } from "./listener.ts";

const MAX_KEPT = 1_000;
/** Half of the bytes that a listener may leave unread, because the hub may send it all kept records at once. */
const MAX_KEPT_BYTES = MAX_UNREAD_BYTES / 2;

/** The last records, at most 1,000 and 512 KiB, for pages that load again and bots that connect again. */
export interface Kept {
  add(activity: Activity): void;
  /** Returns the kept records after the one with this id; all of them if it is not kept. */
  after(id: string): readonly Activity[];
  /** Returns the newest record's id; `0` if there is none. */
  position(): string;
}

export function createKept(): Kept {
  const records: Activity[] = [];
  let bytes = 0;
  return {
    add(activity) {
      records.push(activity);
      bytes += sizeOf(activity);
      while (records.length > MAX_KEPT || bytes > MAX_KEPT_BYTES) {
        const oldest = records.shift();
        if (oldest) bytes -= sizeOf(oldest);
      }
    },
    after: (id) => records.slice(records.findLastIndex((record) => record.id === id) + 1),
    position: () => records.at(-1)?.id ?? "0",
  };
}

const sizeOf = (activity: Activity) => Buffer.byteLength(JSON.stringify(activity));
