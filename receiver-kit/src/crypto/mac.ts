/**
 * HMAC-SHA256 of one signing secret over `<timestamp>.<event-id>.<raw-body>`.
 *
 * Results are plain values where node:crypto computes them and promises where WebCrypto does.
 */
export interface Mac {
  /** Returns the 64 lower-case hexadecimal characters of the MAC over `prefix` and then `body`. */
  hex(prefix: string, body: Uint8Array): string | Promise<string>;
  /** Tells, in constant time, whether `signatureHex` (64 lower-case characters) is that MAC. */
  matches(prefix: string, body: Uint8Array, signatureHex: string): boolean | Promise<boolean>;
}
