import { isFromShard } from "./shard-error.ts";

/** The error numbers of an ALTER TABLE whose columns or keys were already added or dropped. */
const ALTERED_BEFORE: ReadonlySet<unknown> = new Set([1060, 1061, 1091]);
/** A vtgate joins the messages of its shards' errors into one error, which has the number of the first. */
const NEXT_SHARD = /\n(?=target: )/;
const ERRNO = /\(errno (\d+)\)/;

/** Tells whether an ALTER TABLE failed because its changes exist. At a vtgate they must exist on each failed shard. */
export function wasAlteredBefore(error: unknown): boolean {
  if (!(error instanceof Error) || !("errno" in error)) return false;
  if (!isFromShard(error)) return ALTERED_BEFORE.has(error.errno);
  const ofShards = error.message.split(NEXT_SHARD);
  return ofShards.every((text) => ALTERED_BEFORE.has(Number(ERRNO.exec(text)?.[1])));
}
