/** The first byte of account buckets; that of clients is another. */
export const ACCOUNT_PREFIX = "a";

/** Returns the bytes that an account is counted under. */
export function accountBucket(accountId: string): Buffer {
  return Buffer.from(`${ACCOUNT_PREFIX}${accountId}`, "ascii");
}
