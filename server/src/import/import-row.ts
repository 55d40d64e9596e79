import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { DomainError } from "../common/errors.ts";
import {
  EXTERNAL_ID_MAX,
  externalIdBytes,
  hasAtMost,
  MESSAGE_MAX,
  NAME_MAX,
  parseOptionalText,
} from "../common/stored-text.ts";
import { type Micros, requiredMicros } from "../common/timestamps.ts";

export type ReceivedRow = {
  readonly externalId: string;
  readonly amountCents: bigint;
  readonly currency: string;
  readonly donorName?: string | undefined;
  readonly message?: string | undefined;
  readonly donatedAt?: Timestamp | undefined;
};

export type ImportedRow = {
  readonly externalId: Buffer;
  readonly amountCents: number;
  readonly currency: string;
  readonly donorName: string | undefined;
  readonly message: string | undefined;
  readonly donatedAt: Micros;
};

/** A row that can be stored, or a sentence that names the invalid field and what it accepts. */
export type ImportRowOutcome =
  | { readonly kind: "accepted"; readonly row: ImportedRow }
  | { readonly kind: "refused"; readonly reason: string };

const CURRENCY = /^[a-z]{3}$/;
const MAX_AMOUNT = BigInt(Number.MAX_SAFE_INTEGER);

/** Checks a row by the rules for donations made through the service, but allows any currency. */
export function checkImportRow(row: ReceivedRow): ImportRowOutcome {
  const reason = reasonAgainst(row);
  if (reason !== undefined) return refused(reason);
  try {
    const accepted = {
      externalId: externalIdBytes(row.externalId, "external_id"),
      amountCents: Number(row.amountCents),
      currency: row.currency,
      donorName: parseOptionalText(row.donorName, "donor_name"),
      message: parseOptionalText(row.message, "message"),
      donatedAt: requiredMicros(row.donatedAt, "donated_at"),
    };
    return { kind: "accepted", row: accepted };
  } catch (error) {
    if (error instanceof DomainError) return refused(error.message);
    throw error;
  }
}

function reasonAgainst(row: ReceivedRow): string | undefined {
  if (row.externalId === "" || !hasAtMost(row.externalId, EXTERNAL_ID_MAX)) {
    return `external_id accepts 1 to ${EXTERNAL_ID_MAX} characters.`;
  }
  if (row.amountCents < 0n || row.amountCents > MAX_AMOUNT) {
    return `amount_cents accepts a whole number from 0 to ${MAX_AMOUNT}.`;
  }
  if (!CURRENCY.test(row.currency)) return "currency accepts a lower-case ISO 4217 code.";
  if (!hasAtMost(row.donorName ?? "", NAME_MAX)) {
    return `donor_name accepts at most ${NAME_MAX} characters.`;
  }
  if (!hasAtMost(row.message ?? "", MESSAGE_MAX)) {
    return `message accepts at most ${MESSAGE_MAX} characters.`;
  }
  return undefined;
}

function refused(reason: string): ImportRowOutcome {
  return { kind: "refused", reason };
}
