import type { ImportDonationsResponse } from "@activity/proto";
import type { ImportProgress } from "./import-progress.ts";

/** The numbers of stored, unchanged, refused and left out rows, and why rows were refused. */
export type ImportCounts = {
  readonly stored: number;
  readonly unchanged: number;
  readonly refused: number;
  /** The rows that `--only` does not accept. */
  readonly leftOut: number;
  /** The count of each reason, the most frequent first. */
  readonly reasons: readonly (readonly [reason: string, count: number])[];
};

/** Counts the outcomes of rows, and shows them. */
export type ImportReport = {
  /** Takes the bytes of the file read so far. */
  addBytes(bytesRead: number): void;
  /** Takes the core's answer, which counts all rows so far, and the rows that the answer refuses or finds different. */
  addAnswer(answer: ImportDonationsResponse, refusedRows: readonly { reason: string }[]): void;
  /** Takes one row that was not sent. */
  addRefused(reason: string): void;
  /** Takes one row that `--only` does not accept. */
  addLeftOut(): void;
  counts(): ImportCounts;
};

/** The maximum number of different reasons that are kept. */
const MAX_REASONS = 100;

/** Creates an empty report. */
export function createImportReport(progress: ImportProgress): ImportReport {
  const reasons = new Map<string, number>();
  let bytes = 0;
  let refusedHere = 0;
  let leftOut = 0;
  let differing = 0;
  let answered = { stored: 0, unchanged: 0, refused: 0 };

  function addReason(reason: string): void {
    const count = reasons.get(reason);
    if (count === undefined && reasons.size >= MAX_REASONS) return;
    reasons.set(reason, (count ?? 0) + 1);
  }

  function show(): void {
    const { stored, unchanged, refused } = answered;
    progress.update(bytes, stored + unchanged + refused + refusedHere + leftOut);
  }

  return {
    addBytes(bytesRead) {
      bytes = bytesRead;
      show();
    },
    addAnswer({ stored, unchanged, refused, differingRows }, refusedRows) {
      differing += differingRows.length;
      answered = {
        stored: Number(stored),
        unchanged: Number(unchanged) - differing,
        refused: Number(refused) + differing,
      };
      for (const { reason } of refusedRows) addReason(reason);
      show();
    },
    addRefused(reason) {
      refusedHere += 1;
      addReason(reason);
    },
    addLeftOut() {
      leftOut += 1;
    },
    counts() {
      const sorted = [...reasons].sort(([, one], [, other]) => other - one);
      return { ...answered, refused: answered.refused + refusedHere, leftOut, reasons: sorted };
    },
  };
}
