import {
  createCipheriv,
  createDecipheriv,
  createHash,
  type KeyObject,
  createSecretKey as newKeyObject,
  randomBytes,
} from "node:crypto";

/**
 * An encrypted signing secret is: version (1 byte), key id (4), nonce (12), AES-256-GCM tag (16) and ciphertext. The
 * tag also covers the endpoint's id, so the secret works for no other endpoint.
 */
const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_OFFSET = 1 + KEY_ID_BYTES;
const TAG_OFFSET = NONCE_OFFSET + NONCE_BYTES;
const TEXT_OFFSET = TAG_OFFSET + TAG_BYTES;
const ALGORITHM = "aes-256-gcm";

/** A key that encrypts signing secrets at rest, and the id with which each encrypted secret names it. */
export type SecretKey = { readonly id: Buffer; readonly key: KeyObject };
/** The first key encrypts, every key decrypts. */
export type SecretKeys = readonly [SecretKey, ...SecretKey[]];

/** Creates a secret key of 32 bytes. */
export function createSecretKey(bytes: Buffer): SecretKey {
  const id = createHash("sha256").update(bytes).digest().subarray(0, KEY_ID_BYTES);
  // Uses a KeyObject, because Node takes five times as long with a key in a buffer.
  return { id, key: newKeyObject(bytes) };
}

/** Returns the name of a secret key: its id in hexadecimal, 8 characters, which reveal nothing of the key. */
export function nameOf({ id }: SecretKey): string {
  return id.toString("hex");
}

/** Returns the name of the secret key that encrypted a signing secret. */
export function keyNameOf(stored: Buffer): string {
  return stored.toString("hex", 1, NONCE_OFFSET);
}

export function encryptSecret([first]: SecretKeys, endpointId: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, first.key, nonce).setAAD(Buffer.from(endpointId));
  const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), first.id, nonce, cipher.getAuthTag(), text]);
}

/** Decrypts the signing secret of an endpoint. Throws if none of `keys` encrypted it for this endpoint. */
export function decryptSecret(keys: SecretKeys, endpointId: string, stored: Buffer): string {
  const keyId = stored.subarray(1, NONCE_OFFSET);
  const found = keys.find(({ id }) => id.equals(keyId));
  if (stored[0] !== VERSION || found === undefined) {
    throw new Error("SECRET_KEYS lacks the key of a signing secret, or the secret is damaged");
  }
  const nonce = stored.subarray(NONCE_OFFSET, TAG_OFFSET);
  const decipher = createDecipheriv(ALGORITHM, found.key, nonce)
    .setAAD(Buffer.from(endpointId))
    .setAuthTag(stored.subarray(TAG_OFFSET, TEXT_OFFSET));
  return decipher.update(stored.subarray(TEXT_OFFSET), undefined, "utf8") + decipher.final("utf8");
}
