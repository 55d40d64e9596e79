import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";

/** Reads the name of this database, 12 hexadecimal characters that were drawn when it was made. */
export async function readInstallationId(pool: Pool): Promise<string> {
  const [row] = await queryWithin<(RowDataPacket & { id: string })[]>(
    pool,
    "SELECT id FROM installation",
    [],
  );
  if (row === undefined) throw new Error("the table installation has lost its row");
  return row.id;
}
