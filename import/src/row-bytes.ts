import type { Donation } from "./donation-row.ts";

/** The maximum bytes of rows in one message. The core takes 1 MiB. */
export const MAX_BYTES = 900_000;
/** The bytes of a row's amount, currency, date and lengths, rounded up. */
const OTHER_BYTES = 100;

/** Returns the most bytes that a row takes in a message. */
export function rowBytes(row: Pick<Donation, "externalId" | "donorName" | "message">): number {
  const texts = [row.externalId, row.donorName ?? "", row.message ?? ""];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), OTHER_BYTES);
}
