import { Buffer } from "node:buffer";
import * as nodeCrypto from "node:crypto";
import type { Mac } from "./mac.ts";

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const HEX_LENGTH = 64;
// Up to this size, copying the body for one-shot hashing costs less than creating a stream.
const ONE_SHOT_BYTES = 16 * 1024;
// Undefined before Node 20.12.
const oneShotHash: typeof nodeCrypto.hash | undefined = nodeCrypto.hash;

const computedHex = Buffer.alloc(HEX_LENGTH);
const receivedHex = Buffer.alloc(HEX_LENGTH);

/**
 * Creates the MAC of a secret with node:crypto, which computes in the same tick. WebCrypto uses the thread pool, which
 * costs several times as much as the hash.
 */
export function createMac(secret: string): Mac {
  const keyObject = nodeCrypto.createSecretKey(Buffer.from(secret, "utf8"));
  const streamedHex = (prefix: string, body: Uint8Array): string =>
    nodeCrypto.createHmac("sha256", keyObject).update(prefix, "utf8").update(body).digest("hex");
  const oneShotHex = oneShotHash ? createOneShotHex(secret, oneShotHash) : streamedHex;
  // In UTF-8, `prefix` has at most three bytes for each UTF-16 unit.
  const hex = (prefix: string, body: Uint8Array): string =>
    prefix.length * 3 + body.length > ONE_SHOT_BYTES
      ? streamedHex(prefix, body)
      : oneShotHex(prefix, body);
  return {
    hex,
    matches(prefix, body, signatureHex) {
      computedHex.write(hex(prefix, body), "latin1");
      receivedHex.write(signatureHex, "latin1");
      return nodeCrypto.timingSafeEqual(computedHex, receivedHex);
    },
  };
}

/** Creates a unique token. */
export function createToken(): string {
  return nodeCrypto.randomUUID();
}

/**
 * Creates a function that computes an HMAC with two one-shot hashes, as RFC 2104 defines it.
 *
 * Digests are passed as text, because a Buffer for each costs as much as the hash. All calls share `inner` and `outer`,
 * because nothing else runs between a write and its read.
 */
function createOneShotHex(secret: string, hash: typeof nodeCrypto.hash) {
  const secretBytes = Buffer.from(secret, "utf8");
  const key = Buffer.alloc(BLOCK_BYTES);
  key.set(secretBytes.length > BLOCK_BYTES ? hash("sha256", secretBytes, "buffer") : secretBytes);
  const inner = Buffer.alloc(BLOCK_BYTES + ONE_SHOT_BYTES);
  inner.set(key.map((byte) => byte ^ 0x36));
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
  outer.set(key.map((byte) => byte ^ 0x5c));

  return (prefix: string, body: Uint8Array): string => {
    const bodyStart = BLOCK_BYTES + inner.write(prefix, BLOCK_BYTES, "utf8");
    inner.set(body, bodyStart);
    const signed = inner.subarray(0, bodyStart + body.length);
    outer.write(hash("sha256", signed, "binary"), BLOCK_BYTES, "latin1");
    return hash("sha256", outer, "hex");
  };
}
