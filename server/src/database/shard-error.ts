/** A vtgate begins the message of a shard's error with the keyspace, the shard and the kind of tablet. */
const OF_A_SHARD = /\btarget: [^\s:]+\.[^\s:]+\.\w+: /;

/** A hint that only a vtgate reads: it then skips an unavailable shard and does not fail the statement. ADR 0048 */
export const OF_SHARDS_THAT_SERVE = "/*vt+ SCATTER_ERRORS_AS_WARNINGS=1 */";

/** Tells whether a vtgate passed on the error of a single shard. The other shards may serve. ADR 0048 */
export function isFromShard(error: unknown): boolean {
  return error instanceof Error && OF_A_SHARD.test(error.message);
}
