import type { Mac } from "./mac.ts";

const ALGORITHM = { name: "HMAC", hash: "SHA-256" };
const USAGES = ["sign", "verify"] as const;
const utf8 = new TextEncoder();

/** Creates the MAC of a secret with WebCrypto, which is a global of every runtime except old Node. */
export function createMac(secret: string): Mac {
  let imported: CryptoKey | undefined;
  // Keeps the imported key, not its promise: in Workers, a request must not await another request's promise.
  const importKey = async (): Promise<CryptoKey> => {
    imported ??= await crypto.subtle.importKey(
      "raw",
      utf8.encode(secret),
      ALGORITHM,
      false,
      USAGES,
    );
    return imported;
  };
  return {
    async hex(prefix, body) {
      const mac = await crypto.subtle.sign("HMAC", await importKey(), signedBytes(prefix, body));
      return Array.from(new Uint8Array(mac), (byte) => byte.toString(16).padStart(2, "0")).join("");
    },
    async matches(prefix, body, signatureHex) {
      const signature = Uint8Array.from(signatureHex.match(/../g) ?? [], (hex) =>
        parseInt(hex, 16),
      );
      // subtle.verify compares in constant time in every runtime.
      return crypto.subtle.verify("HMAC", await importKey(), signature, signedBytes(prefix, body));
    },
  };
}

/** Creates a unique token. */
export function createToken(): string {
  return crypto.randomUUID();
}

function signedBytes(prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = utf8.encode(prefix);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}
