/** The first byte of an account's bucket. Client buckets begin with other bytes. */
export const ACCOUNT_PREFIX = "a";

/** Returns an account's bucket, which names its window. */
export function accountBucket(accountId: string): Buffer {
  return Buffer.from(`${ACCOUNT_PREFIX}${accountId}`, "ascii");
}

/** Tells whether a bucket is an account's and not a client's. */
export function isAccountBucket(bucket: Buffer): boolean {
  return bucket[0] === ACCOUNT_PREFIX.charCodeAt(0);
}
