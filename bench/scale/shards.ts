import { KEY_PLACES, keyspaceIdOf, shardOf } from "./keyspace-id.ts";
import type { Shares } from "./zipf.ts";

/** 2024-01-01T00:00:00Z, and three years from then on: an account's number is the microsecond it was made in. */
const FIRST_MICROS = 1_704_067_200_000_000;
const SPAN_MICROS = 3 * 365 * 86_400_000_000;

/** What lies where: a share, from 0 to 1, for each first byte of a keyspace id. */
export type Spread = Float64Array;

/** Makes accounts, and returns the first byte of the keyspace id of each. */
export function placeAccounts(count: number, random: () => number): Uint8Array {
  return Uint8Array.from({ length: count }, () => {
    const accountNo = FIRST_MICROS + Math.floor(random() * SPAN_MICROS);
    return keyspaceIdOf(String(accountNo))[0] ?? 0;
  });
}

/** Tells where the accounts are. */
export function spreadOfAccounts(places: Uint8Array): Spread {
  const spread = new Float64Array(KEY_PLACES);
  for (const place of places) spread[place] = (spread[place] ?? 0) + 1 / places.length;
  return spread;
}

/** Tells where the events are, with one more draw of which account is how large. */
export function spreadOfEvents(places: Uint8Array, shares: Shares, random: () => number): Spread {
  const spread = new Float64Array(KEY_PLACES);
  const first = Math.floor(random() * places.length);
  const turned = [places.subarray(first), places.subarray(0, first)];
  let rank = 0;
  for (const part of turned) {
    for (let account = 0; account < part.length; account++, rank++) {
      const place = part[account] ?? 0;
      spread[place] = (spread[place] ?? 0) + (shares[rank] ?? 0);
    }
  }
  return spread;
}

/** Returns the share of the fullest of some shards, from 0 to 1. */
export function fullestOf(spread: Spread, shards: number): number {
  const sums = new Array<number>(shards).fill(0);
  for (const [place, share] of spread.entries()) {
    const shard = shardOf(place, shards);
    sums[shard] = (sums[shard] ?? 0) + share;
  }
  return Math.max(...sums);
}
