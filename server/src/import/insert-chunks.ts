/**
 * The most bytes of text in one packet. The packet carries each text twice, for the donation and for the feed, so this
 * is below half of the smallest `max_allowed_packet` in use (16 MiB). Escapes fit too: they double only one-byte
 * characters, which count as three bytes here.
 */
const MAX_TEXT_BYTES = 4_000_000;
/** The most bytes that one UTF-16 code unit takes in UTF-8. */
const BYTES_PER_UNIT = 3;

type Texts = { readonly donorName: string | undefined; readonly message: string | undefined };

/** Splits donations so that each part fits into one packet. */
export function insertChunks<Donation extends Texts>(donations: readonly Donation[]): Donation[][] {
  const chunks: Donation[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const donation of donations) {
    const units = (donation.donorName?.length ?? 0) + (donation.message?.length ?? 0);
    bytes += units * BYTES_PER_UNIT;
    if (bytes > MAX_TEXT_BYTES) {
      chunks.push([]);
      bytes = units * BYTES_PER_UNIT;
    }
    chunks.at(-1)?.push(donation);
  }
  return chunks;
}
