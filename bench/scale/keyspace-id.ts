import { xxHash64 } from "./xxhash64.ts";

/** First bytes of a keyspace id. */
export const KEY_PLACES = 256;

/**
 * Returns the keyspace id that Vitess's vindex `xxhash` gives a value: xxHash64 of the value as text, a number's decimal
 * digits, with the least significant byte first (vitess v0.24.1, go/vt/vtgate/vindexes/xxhash.go).
 */
export function keyspaceIdOf(value: string): Buffer {
  const id = Buffer.alloc(8);
  id.writeBigUInt64LE(xxHash64(Buffer.from(value)));
  return id;
}

/**
 * Returns which of `shards` equal key ranges holds a keyspace id, from 0 on; `shards` is a power of two of 256 at most,
 * so that the first byte tells: of 4 they are -40, 40-80, 80-c0 and c0-.
 */
export function shardOf(firstByte: number, shards: number): number {
  return Math.floor((firstByte * shards) / KEY_PLACES);
}
