import type { Watch } from "../measure/watch.ts";

/** What a donation leaves behind, and for how long: docs/scale.md. */
export const KEPT = {
  donation: "always",
  activity: "always",
  webhook_event: "DELIVERY_RETENTION",
  delivery: "DELIVERY_RETENTION",
  delivery_attempt: "DELIVERY_RETENTION",
  delivery_stat: "32 days",
  outbox_entry: "until it is delivered",
} as const;
export type TableName = keyof typeof KEPT;
const TABLES = Object.keys(KEPT) as TableName[]; // it has no other keys

/** How much a table holds, in rows and bytes; pages that it has reserved are among its bytes. */
export type Held = { readonly rows: number; readonly data: number; readonly indexes: number };
export type Stored = Readonly<Record<TableName, Held>>;

type SizeRow = { name: TableName; data: string; indexes: string };

/** Reads what each table holds. */
export async function readStored(watch: Watch): Promise<Stored> {
  // Else the sizes are those of some time ago.
  await watch.rows(`ANALYZE TABLE ${TABLES.join(", ")}`);
  const sizes = await watch.rows<SizeRow>(
    `SELECT table_name AS name, data_length AS data, index_length AS indexes FROM information_schema.tables
     WHERE table_schema = DATABASE()`,
  );
  const held: [TableName, Held][] = [];
  for (const table of TABLES) {
    const rows = await watch.number(`SELECT COUNT(*) FROM ${table}`);
    const size = sizes.find(({ name }) => name === table);
    held.push([table, { rows, data: Number(size?.data), indexes: Number(size?.indexes) }]);
  }
  return Object.fromEntries(held) as Record<TableName, Held>; // one for each
}

/** Returns what came between two moments, for each of some donations. */
export function storedEach(before: Stored, after: Stored, donations: number): Stored {
  const each = TABLES.map((table) => {
    const of = (pick: (held: Held) => number) =>
      (pick(after[table]) - pick(before[table])) / donations;
    const held = { rows: of(({ rows }) => rows), data: of(({ data }) => data) };
    return [table, { ...held, indexes: of(({ indexes }) => indexes) }];
  });
  return Object.fromEntries(each) as Stored; // one for each
}
