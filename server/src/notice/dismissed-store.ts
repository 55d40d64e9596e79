import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { inTransaction } from "../database/transaction.ts";

const SEQUENCE_BYTES = 8;
/** How many sequences the column can hold. */
const MAX_DISMISSED = 100;

type Row = RowDataPacket & { dismissed: Buffer | null };

const FIND = "SELECT dismissed FROM dashboard_session WHERE session_hash = ?";

/** Lists the sequences of the notices that a session dismissed last. */
export async function listDismissed(pool: Pool, sessionHash: Buffer): Promise<bigint[]> {
  const [row] = await queryWithin<Row[]>(pool, FIND, [sessionHash]);
  return sequencesIn(row);
}

/** Adds a notice to those that a session dismissed. Keeps the last 100. */
export async function addDismissed(
  pool: Pool,
  sessionHash: Buffer,
  sequence: bigint,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const [[row]] = await tx.query<Row[]>(`${FIND} FOR UPDATE`, [sessionHash]);
    const before = sequencesIn(row).filter((each) => each !== sequence);
    const kept = [...before, sequence].slice(-MAX_DISMISSED);
    const bytes = Buffer.alloc(kept.length * SEQUENCE_BYTES);
    for (const [at, each] of kept.entries()) {
      bytes.writeBigInt64BE(each, at * SEQUENCE_BYTES);
    }
    await tx.query("UPDATE dashboard_session SET dismissed = ? WHERE session_hash = ?", [
      bytes,
      sessionHash,
    ]);
  });
}

function sequencesIn(row: Row | undefined): bigint[] {
  const bytes = row?.dismissed ?? Buffer.alloc(0);
  return Array.from({ length: bytes.length / SEQUENCE_BYTES }, (_, at) =>
    bytes.readBigInt64BE(at * SEQUENCE_BYTES),
  );
}
