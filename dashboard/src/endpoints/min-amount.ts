/** Matches euros, with or without cents after a point or a comma. */
const AMOUNT = /^(\d{1,14})(?:[.,](\d{1,2}))?$/;
/** The server's maximum, in cents. */
const MAX_CENTS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Parses a minimum amount in euros, and returns it in cents. An empty text is 0, no minimum. Returns `undefined` for
 * any other text that is no amount, and for one above the maximum.
 */
export function centsFromText(text: string): bigint | undefined {
  const entered = text.trim();
  if (entered === "") return 0n;
  const [, euros = "", cents = ""] = AMOUNT.exec(entered) ?? [];
  const amount = BigInt(euros + cents.padEnd(2, "0"));
  return euros === "" || amount > MAX_CENTS ? undefined : amount;
}

/** Formats a minimum amount as the owner enters it; empty for 0. */
export function amountText(cents: bigint): string {
  if (cents === 0n) return "";
  const digits = String(cents).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
