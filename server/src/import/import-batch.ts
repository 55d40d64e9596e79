import { setImmediate as turn } from "node:timers/promises";
import type { Writer } from "../write/writer.ts";
import type { ImportedRow } from "./import-row.ts";
import {
  insertDonations,
  nameOf,
  type PreparedRow,
  prepareRow,
  showDonations,
  storedNamesBy,
} from "./import-store.ts";
import { insertChunks } from "./insert-chunks.ts";

/** Rows that fit into one packet. */
export type PreparedChunk = readonly PreparedRow[];

/** The rows to prepare before other work has its turn. */
const ROWS_A_TURN = 100;

/** Prepares rows to be stored. Of equal external ids the first row counts. */
export async function prepareRows(
  platform: number,
  rows: readonly ImportedRow[],
): Promise<PreparedChunk[]> {
  const distinct = new Map<string, ImportedRow>();
  for (const row of rows) {
    const name = nameOf(row.externalId);
    if (!distinct.has(name)) distinct.set(name, row);
  }
  const chunks: PreparedChunk[] = [];
  for (const chunk of insertChunks([...distinct.values()])) {
    const prepared: PreparedRow[] = [];
    for (const row of chunk) {
      // Takes the database's answers in between, because it waits for the rest of the batch before.
      if (prepared.length % ROWS_A_TURN === 0) await turn();
      prepared.push(prepareRow(row, platform));
    }
    chunks.push(prepared);
  }
  return chunks;
}

/**
 * Stores the rows that are not stored yet, and returns their number. The rows of one chunk get the same `recordedAt`.
 */
export async function storePreparedRows(
  writer: Writer,
  accountId: string,
  platform: number,
  chunks: readonly PreparedChunk[],
): Promise<number> {
  let stored = 0;
  for (const chunk of chunks) stored += await storeChunk(writer, accountId, platform, chunk);
  return stored;
}

function storeChunk(
  { write }: Writer,
  accountId: string,
  platform: number,
  chunk: PreparedChunk,
): Promise<number> {
  return write({
    accountId,
    load: (accountNo) => ({
      names: storedNamesBy(...chunk.map((row) => [accountNo, platform, row.externalId])),
    }),
    decide({ names }, { accountNo, recordedAt, newId }) {
      const stored = new Set(names);
      const rows = chunk.filter(({ name }) => !stored.has(name));
      if (rows.length === 0) return { answer: 0 };
      const toStore = { accountNo, recordedAt, rows, recordIds: rows.map(newId) };
      return {
        answer: rows.length,
        changes: [insertDonations(toStore)],
        feed: [showDonations(toStore)],
      };
    },
  });
}
