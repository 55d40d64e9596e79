import type { Activity } from "../contract.ts";

const MAX_KEPT = 1_000;

/** The last 1,000 records, for a page that is loaded again or a bot that was away. */
export interface Kept {
  add(activity: Activity): void;
  /** Returns what came after the record of this id; all that is kept when it is not among them. */
  after(id: string): readonly Activity[];
  /** The newest record's id; `0` while there is none. */
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
