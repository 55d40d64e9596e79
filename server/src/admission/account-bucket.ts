/** The first byte of an account's bucket. Client buckets begin with other bytes. */
export const ACCOUNT_PREFIX = "a";

/** Returns the bucket under which an account is counted. */
export function accountBucket(accountId: string): Buffer {
  return Buffer.from(`${ACCOUNT_PREFIX}${accountId}`, "ascii");
}
