/** Euros, with cents after a point or a comma. */
const AMOUNT = /^(\d{1,9})(?:[.,](\d{1,2}))?$/;

/**
 * Parses a minimum amount in euros, and returns it in cents. An empty text is 0, no minimum. Returns `undefined` for
 * any other text that is no amount.
 */
export function centsFromText(text: string): bigint | undefined {
  const entered = text.trim();
  if (entered === "") return 0n;
  const [, euros = "", cents = ""] = AMOUNT.exec(entered) ?? [];
  return euros === "" ? undefined : BigInt(euros + cents.padEnd(2, "0"));
}

/** Formats a minimum amount as the owner enters it; empty for 0. */
export function amountText(cents: bigint): string {
  if (cents === 0n) return "";
  const digits = String(cents).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
