/**
 * HMAC-SHA256 with one signing secret over `<timestamp>.<event-id>.<raw-body>`.
 *
 * node:crypto returns plain values, WebCrypto returns promises.
 */
export interface Mac {
  /** Returns the 64 lower-case hexadecimal characters of the MAC over `prefix` and then `body`. */
  hex(prefix: string, body: Uint8Array): string | Promise<string>;
  /** Returns, in constant time, whether `signatureHex` (64 lower-case characters) is that MAC. */
  matches(prefix: string, body: Uint8Array, signatureHex: string): boolean | Promise<boolean>;
}
