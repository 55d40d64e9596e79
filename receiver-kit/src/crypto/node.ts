import { Buffer } from "node:buffer";
import * as nodeCrypto from "node:crypto";
import type { Mac } from "./mac.ts";

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const HEX_LENGTH = 64;
// Up to here, copying the body for one-shot hashing costs less than setting up a stream.
const ONE_SHOT_BYTES = 16 * 1024;
// Node has it since 20.12.
const oneShotHash: typeof nodeCrypto.hash | undefined = nodeCrypto.hash;

const foundHex = Buffer.alloc(HEX_LENGTH);
const givenHex = Buffer.alloc(HEX_LENGTH);

/**
 * Creates the MAC of a secret with node:crypto, in the caller's own tick: WebCrypto's trip through
 * the thread pool costs several times the hash itself.
 */
export function createMac(secret: string): Mac {
  const keyObject = nodeCrypto.createSecretKey(Buffer.from(secret, "utf8"));
  const streamedHex = (prefix: string, body: Uint8Array): string =>
    nodeCrypto.createHmac("sha256", keyObject).update(prefix, "utf8").update(body).digest("hex");
  const oneShotHex = oneShotHash ? createOneShotHex(secret, oneShotHash) : streamedHex;
  // UTF-8 takes at most three bytes for one UTF-16 unit.
  const hex = (prefix: string, body: Uint8Array): string =>
    prefix.length * 3 + body.length > ONE_SHOT_BYTES
      ? streamedHex(prefix, body)
      : oneShotHex(prefix, body);
  return {
    hex,
    matches(prefix, body, signatureHex) {
      foundHex.write(hex(prefix, body), "latin1");
      givenHex.write(signatureHex, "latin1");
      return nodeCrypto.timingSafeEqual(foundHex, givenHex);
    },
  };
}

/** Creates a token that no other caller ever gets. */
export function createToken(): string {
  return nodeCrypto.randomUUID();
}

/**
 * HMAC as RFC 2104 writes it, over two one-shot hashes.
 *
 * Digests travel as text, because a Buffer for each costs as much as the hash. The working space is
 * used again: nothing else runs between its writing and its reading.
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
