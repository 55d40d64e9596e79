import {
  type ImportDonationsRequest,
  type ImportOpening,
  type ImportRow,
  type ImportService,
  PlatformSchema,
} from "@activity/proto";
import type { ServiceImpl } from "@connectrpc/connect";
import { checkAccountId } from "../account/account-id.ts";
import { readAccount } from "../account/account-store.ts";
import { isImportPlatform } from "../activity/activity-values.ts";
import { enumNames } from "../common/enum-names.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { oneAhead } from "../common/one-ahead.ts";
import type { Pool } from "../database/pool.ts";
import type { Writer } from "../write/writer.ts";
import { storeImportedRows } from "./import-batch.ts";
import { checkImportRow, type ImportedRow } from "./import-row.ts";

/** The most rows of one message. */
const MAX_ROWS = 1000;

export function createImportService(pool: Pool, writer: Writer): ServiceImpl<typeof ImportService> {
  return {
    async *importDonations(requests) {
      const steps = requests[Symbol.asyncIterator]();
      const first = await steps.next();
      if (first.done) return;
      const { accountId, platform } = await open(pool, first.value);
      let stored = 0;
      let refused = 0;
      // The next message is read and checked while the database stores the one before.
      for await (const { accepted, refusedRows, received } of oneAhead(readBatches(steps))) {
        refused += refusedRows.length;
        const batch = await storeImportedRows(writer, accountId, platform, [...accepted.keys()]);
        stored += batch.stored;
        yield {
          received: BigInt(received),
          stored: BigInt(stored),
          unchanged: BigInt(received - stored - refused),
          refused: BigInt(refused),
          refusedRows,
          differingRows: batch.differing.flatMap((row) => accepted.get(row) ?? []),
        };
      }
    },
  };
}

/** Reads the first message of an import. Fails if its platform does not allow imports or its account does not exist. */
async function open(pool: Pool, { step }: ImportDonationsRequest): Promise<ImportOpening> {
  if (step.case !== "opening") throw invalid("step accepts an opening in the first message.");
  if (!isImportPlatform(step.value.platform)) {
    throw invalid(`platform accepts ${enumNames(PlatformSchema, isImportPlatform)}.`);
  }
  checkAccountId(step.value.accountId);
  await readAccount(pool, step.value.accountId);
  return step.value;
}

/** Reads the messages after the opening. `received` counts the rows so far. */
async function* readBatches(steps: AsyncIterator<ImportDonationsRequest>) {
  let received = 0;
  for await (const request of { [Symbol.asyncIterator]: () => steps }) {
    const rows = rowsOf(request);
    const checked = checkRows(rows, received);
    received += rows.length;
    yield { ...checked, received };
  }
}

function rowsOf({ step }: ImportDonationsRequest): ImportRow[] {
  if (step.case !== "rows") throw invalid("step accepts rows after the first message.");
  const { rows } = step.value;
  if (rows.length < 1 || rows.length > MAX_ROWS)
    throw invalid(`rows accepts 1 to ${MAX_ROWS} rows.`);
  return rows;
}

function checkRows(rows: readonly ImportRow[], firstIndex: number) {
  /** Each row with its index. */
  const accepted = new Map<ImportedRow, bigint>();
  const refusedRows: { index: bigint; externalId: string; reason: string }[] = [];
  for (const [offset, row] of rows.entries()) {
    const index = BigInt(firstIndex + offset);
    const outcome = checkImportRow(row);
    if (outcome.kind === "accepted") {
      accepted.set(outcome.row, index);
    } else {
      refusedRows.push({
        index,
        // Replaces halves of surrogate pairs, because Protobuf cannot encode them.
        externalId: row.externalId.toWellFormed(),
        reason: outcome.reason,
      });
    }
  }
  return { accepted, refusedRows };
}

function invalid(message: string): DomainError {
  return new DomainError(ErrorCode.InvalidParameter, message);
}
