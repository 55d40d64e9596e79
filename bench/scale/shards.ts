import createXxHash from "xxhash-wasm";

const { h64 } = await createXxHash();
/** First bytes of a keyspace id. */
const KEY_PLACES = 256;
/** 2024-01-01T00:00:00Z, and three years from then on: an account's number is the microsecond it was made in. */
const FIRST_MICROS = 1_704_067_200_000_000;
const SPAN_MICROS = 3 * 365 * 86_400_000_000;

/**
 * Returns the keyspace id that Vitess's vindex `xxhash` gives a value: xxHash64 of the value as text, a number's decimal
 * digits, with the least significant byte first (vitess v0.24.1, go/vt/vtgate/vindexes/xxhash.go).
 */
export function keyspaceIdOf(value: string): Buffer {
  const id = Buffer.alloc(8);
  id.writeBigUInt64LE(h64(value));
  return id;
}

/** Makes accounts, and returns the first byte of the keyspace id of each. */
export function placeAccounts(count: number, random: () => number): Uint8Array {
  return Uint8Array.from({ length: count }, () => {
    const accountNo = FIRST_MICROS + Math.floor(random() * SPAN_MICROS);
    return keyspaceIdOf(String(accountNo))[0] ?? 0;
  });
}

/** Returns the shares of accounts of which the n-th largest has 1/n^exponent as many events as the largest. */
export function zipfShares(accounts: number, exponent: number): Float64Array {
  const weights = Float64Array.from({ length: accounts }, (_, rank) => (rank + 1) ** -exponent);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** Adds up shares of accounts by their first bytes; the largest is the account at `first`, and so on. */
export function spreadOf(places: Uint8Array, shares: Float64Array, first: number): Float64Array {
  const spread = new Float64Array(KEY_PLACES);
  for (let rank = 0; rank < places.length; rank++) {
    const place = places[(first + rank) % places.length] ?? 0;
    spread[place] = (spread[place] ?? 0) + (shares[rank] ?? 0);
  }
  return spread;
}

/** Returns the share of the fullest of equal key ranges, from 0 to 1. Of 4 they are -40, 40-80, 80-c0 and c0-. */
export function fullestOf(spread: Float64Array, shards: number): number {
  const size = KEY_PLACES / shards;
  const sumOf = (shard: number) =>
    spread.subarray(shard * size, (shard + 1) * size).reduce((sum, share) => sum + share, 0);
  return Math.max(...Array.from({ length: shards }, (_, shard) => sumOf(shard)));
}
