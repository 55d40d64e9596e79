import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import {
  createSecretKey,
  decryptSecret,
  encryptSecret,
  keyNameOf,
  nameOf,
} from "./secret-cipher.ts";
import { newSigningSecret } from "./signing-secret.ts";

const key = () => createSecretKey(randomBytes(32));
const ENDPOINT = "endpoint0000001";

it("creates different secrets of whsec_ and 32 bytes in standard base64", () => {
  const secrets = Array.from({ length: 100 }, newSigningSecret);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(new Set(secrets).size).toBe(100);
});

it("decrypts what it encrypted, and never encrypts a secret to the same bytes twice", () => {
  const one = key();
  const secret = newSigningSecret();
  const stored = [encryptSecret([one], ENDPOINT, secret), encryptSecret([one], ENDPOINT, secret)];
  expect(stored.map((bytes) => decryptSecret([one], ENDPOINT, bytes))).toEqual([secret, secret]);
  expect(stored[0]?.equals(stored[1] ?? Buffer.alloc(0))).toBe(false);
  expect(stored[0]?.includes(Buffer.from(secret.slice(6, 20)))).toBe(false);
});

it("decrypts with an older key after a rotation, but not with a foreign key", () => {
  const [old, young] = [key(), key()];
  const stored = encryptSecret([old], ENDPOINT, "whsec_x");
  expect(decryptSecret([young, old], ENDPOINT, stored)).toBe("whsec_x");
  expect(() => decryptSecret([young], ENDPOINT, stored)).toThrow("SECRET_KEYS");
});

it("names the key that encrypted a secret, and reveals nothing of the key", () => {
  const [one, other] = [key(), key()];
  const stored = encryptSecret([one, other], ENDPOINT, "whsec_x");
  expect(keyNameOf(stored)).toBe(nameOf(one));
  expect(nameOf(one)).toMatch(/^[0-9a-f]{8}$/);
  expect(nameOf(one)).not.toBe(nameOf(other));
  expect(one.key.export().toString("hex")).not.toContain(nameOf(one));
});

it("refuses a secret that was changed, or moved to another endpoint", () => {
  const one = key();
  const stored = encryptSecret([one], ENDPOINT, "whsec_x");
  expect(() => decryptSecret([one], "endpoint0000002", stored)).toThrow();
  for (let byte = 0; byte < stored.length; byte++) {
    const changed = Buffer.from(stored);
    changed[byte] = (changed[byte] ?? 0) ^ 1;
    expect(() => decryptSecret([one], ENDPOINT, changed)).toThrow(/is damaged|authenticate data/);
  }
});
