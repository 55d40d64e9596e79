import { expect, it } from "vitest";
import { createMac as createNodeMac } from "../../src/crypto/node.ts";
import { createMac as createWebMac } from "../../src/crypto/web.ts";
import { VerificationError, verify } from "../../src/index.ts";
import vectorsFile from "../../vectors.json" with { type: "json" };

const { vectors } = vectorsFile;

it.each(vectors)(
  "the published vectors, $name: $reason",
  async ({ headers, body_base64, secret, now_seconds, reason }) => {
    const body = Buffer.from(body_base64, "base64");
    const found = await verify(body, headers, {
      secrets: secret,
      // Only whole seconds count.
      clock: () => now_seconds * 1000 + 999,
    }).then(
      () => null,
      (error) => (error instanceof VerificationError ? error.reason : error),
    );
    expect(found).toBe(reason);
  },
);

it.each([0, 1, 63, 64, 65, 400, 16_369, 16_370, 70_000])(
  "node:crypto and WebCrypto agree on %i bytes",
  async (length) => {
    const body = Buffer.alloc(length, "é");
    for (const secret of ["whsec_short", `whsec_${"k".repeat(200)}`]) {
      const hex = createNodeMac(secret).hex("1.ä.", body) as string;
      expect(await createWebMac(secret).hex("1.ä.", body)).toBe(hex);
      for (const createMac of [createNodeMac, createWebMac]) {
        expect(await createMac(secret).matches("1.ä.", body, hex)).toBe(true);
        expect(await createMac(secret).matches("2.ä.", body, hex)).toBe(false);
      }
    }
  },
);
