const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;
const PRIME_4 = 0x85ebca77c2b2ae63n;
const PRIME_5 = 0x27d4eb2f165667c5n;
/** What is hashed at once while there is as much. */
const STRIPE_BYTES = 32;

const u64 = (value: bigint) => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint) => u64(value << bits) | (value >> (64n - bits));
const round = (lane: bigint, input: bigint) =>
  u64(rotate(u64(lane + u64(input * PRIME_2)), 31n) * PRIME_1);
const merge = (hash: bigint, lane: bigint) => u64(u64(hash ^ round(0n, lane)) * PRIME_1 + PRIME_4);

/** Hashes bytes by xxHash64 with the seed 0. https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md */
export function xxHash64(bytes: Buffer): bigint {
  let at = 0;
  let hash = PRIME_5;
  if (bytes.length >= STRIPE_BYTES) {
    const lanes = [u64(PRIME_1 + PRIME_2), PRIME_2, 0n, u64(-PRIME_1)];
    for (; at + STRIPE_BYTES <= bytes.length; at += STRIPE_BYTES) {
      for (const [place, lane] of lanes.entries()) {
        lanes[place] = round(lane, bytes.readBigUInt64LE(at + 8 * place));
      }
    }
    const turned = lanes.map((lane, place) => rotate(lane, [1n, 7n, 12n, 18n][place] ?? 0n));
    hash = lanes.reduce(merge, u64(turned.reduce((sum, lane) => sum + lane)));
  }
  hash = u64(hash + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) {
    hash = u64(rotate(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * PRIME_1 + PRIME_4);
  }
  for (; at + 4 <= bytes.length; at += 4) {
    const input = u64(BigInt(bytes.readUInt32LE(at)) * PRIME_1);
    hash = u64(rotate(hash ^ input, 23n) * PRIME_2 + PRIME_3);
  }
  for (; at < bytes.length; at++) {
    hash = u64(rotate(hash ^ u64(BigInt(bytes.readUInt8(at)) * PRIME_5), 11n) * PRIME_1);
  }
  hash = u64((hash ^ (hash >> 33n)) * PRIME_2);
  hash = u64((hash ^ (hash >> 29n)) * PRIME_3);
  return hash ^ (hash >> 32n);
}
