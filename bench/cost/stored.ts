import type { Counter, Figures } from "../measure/figures.ts";
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
export const TABLES = Object.keys(KEPT) as TableName[]; // it has no other keys

type SizeRow = { name: string; data: string; indexes: string };

/** Counts what each table holds: rows, bytes, and those of its indexes among them; reserved pages are bytes too. */
export function storedIn(watch: Watch): Counter {
  return async () => {
    // Else the sizes are those of some time ago.
    await watch.rows(`ANALYZE TABLE ${TABLES.join(", ")}`);
    const sizes = await watch.rows<SizeRow>(
      `SELECT table_name AS name, data_length AS data, index_length AS indexes FROM information_schema.tables
       WHERE table_schema = DATABASE()`,
    );
    const held: Record<string, number> = {};
    for (const table of TABLES) {
      const { data, indexes } = sizes.find(({ name }) => name === table) ?? {};
      held[`${table} rows`] = await watch.number(`SELECT COUNT(*) FROM ${table}`);
      held[`${table} bytes`] = Number(data) + Number(indexes);
      held[`${table} index bytes`] = Number(indexes);
    }
    return held;
  };
}

/** Returns one of those figures, summed up over some tables. */
export function sumStored(
  figures: Figures,
  what: "rows" | "bytes" | "index bytes",
  tables: readonly TableName[] = TABLES,
): number {
  return tables.reduce((sum, table) => sum + (figures[`${table} ${what}`] ?? Number.NaN), 0);
}
