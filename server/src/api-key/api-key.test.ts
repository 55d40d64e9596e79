import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { hashApiKey, isApiKeyText, newApiKey } from "./api-key.ts";

it("makes keys of the contract's form, all different, with the hash of the whole text and a prefix", () => {
  const keys = Array.from({ length: 1000 }, newApiKey);
  for (const { secret, hash, prefix } of keys) {
    expect(secret).toMatch(/^act_live_[0-9a-f]{64}$/);
    expect(hash).toEqual(createHash("sha256").update(secret, "utf8").digest());
    expect(hashApiKey(secret)).toEqual(hash);
    expect(prefix).toBe(secret.slice(0, "act_live_".length + 8));
  }
  expect(new Set(keys.map(({ secret }) => secret)).size).toBe(keys.length);
});

it.each([
  ["shorter", (text: string) => text.slice(0, -1)],
  ["longer", (text: string) => `${text}0`],
  ["in capitals", (text: string) => text.toUpperCase()],
  ["with a line break", (text: string) => `${text}\n`],
  ["of another kind", (text: string) => text.replace("_live_", "_svc_")],
  ["with a space before it", (text: string) => ` ${text}`],
])("does not take a text %s for a key", (_, change) => {
  const { secret } = newApiKey();
  expect(isApiKeyText(secret)).toBe(true);
  expect(isApiKeyText(change(secret))).toBe(false);
});
