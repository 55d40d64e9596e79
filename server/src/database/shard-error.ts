/** A vtgate begins the message of a shard's error with the keyspace, the shard and the kind of tablet. */
const OF_A_SHARD = /\btarget: [^\s:]+\.[^\s:]+\.\w+: /;

/** Tells whether a vtgate passed on the error of a single shard. The others may serve. ADR 0048 */
export function isFromShard(error: unknown): boolean {
  return error instanceof Error && OF_A_SHARD.test(error.message);
}
