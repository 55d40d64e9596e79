import type { Activity } from "../contract.ts";

const MAX_KEPT = 1_000;

/** The last 1,000 records, for pages that are loaded again and bots that were disconnected. */
export interface Kept {
  add(activity: Activity): void;
  /** Returns the kept records after the one with this id; all of them if it is not kept. */
  after(id: string): readonly Activity[];
  /** Returns the newest record's id; `0` if there is none. */
  position(): string;
}

export function createKept(): Kept {
  const records: Activity[] = [];
  return {
    add(activity) {
      records.push(activity);
      if (records.length > MAX_KEPT) records.shift();
    },
    after: (id) => records.slice(records.findLastIndex((record) => record.id === id) + 1),
    position: () => records.at(-1)?.id ?? "0",
  };
}
