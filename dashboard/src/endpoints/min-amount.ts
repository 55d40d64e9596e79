/** Euros, with cents behind a point or a comma. */
const AMOUNT = /^(\d{1,9})(?:[.,](\d{1,2}))?$/;

/** Reads a minimum amount in euro, of which nothing is none; `undefined` when it is no amount. */
export function centsFromText(text: string): bigint | undefined {
  const entered = text.trim();
  if (entered === "") return 0n;
  const [, euros = "", cents = ""] = AMOUNT.exec(entered) ?? [];
  return euros === "" ? undefined : BigInt(euros + cents.padEnd(2, "0"));
}

/** Writes a minimum amount as it is entered. */
export function amountText(cents: bigint): string {
  if (cents === 0n) return "";
  const digits = String(cents).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
