import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";

/** Reads this database's id: 12 random hexadecimal characters, drawn when it was created. */
export async function readInstallationId(pool: Pool): Promise<string> {
  const [row] = await queryWithin<(RowDataPacket & { id: string })[]>(
    pool,
    "SELECT id FROM installation",
    [],
  );
  if (row === undefined) throw new Error("table installation has no row");
  return row.id;
}
