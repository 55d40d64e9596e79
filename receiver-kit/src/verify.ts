import { eventFromBody } from "./event-from-body.ts";
import { bytesFromRawBody, type RawBody } from "./raw-body.ts";
import { type HeadersInput, readSignedHeaders } from "./signed-headers.ts";
import { macsFromSecrets, type SigningSecrets } from "./signing-secret.ts";
import { checkTimestamp, DEFAULT_TOLERANCE_SECONDS } from "./timestamp.ts";
import { VerificationError } from "./verification-error.ts";
import type { WebhookEvent } from "./webhook-event.ts";

const SIGNATURE_PATTERN = /^v1=[0-9a-f]{64}$/;
const SIGNATURE_PREFIX_LENGTH = "v1=".length;

/** The options of a verification. */
export interface VerifyOptions {
  /** The whole secret, with `whsec_`; several during a rotation. */
  readonly secrets: SigningSecrets;
  /** How many seconds the delivery's timestamp may be from the clock, either way. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** Returns Unix time in milliseconds. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/**
 * Verifies one delivery and returns its event.
 *
 * Rejects with a `VerificationError` whose `reason` names the failed check. The body is not decoded before its
 * signature is verified.
 */
export async function verify(
  body: RawBody,
  headers: HeadersInput,
  options: VerifyOptions,
): Promise<WebhookEvent> {
  // JavaScript callers can omit the options. Then the secret is missing.
  const macs = macsFromSecrets(options?.secrets);
  const bytes = bytesFromRawBody(body);
  const { eventId, timestamp, signature } = readSignedHeaders(headers);
  const nowMs = (options.clock ?? Date.now)();
  checkTimestamp(timestamp, nowMs, options.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS);
  if (!SIGNATURE_PATTERN.test(signature)) throw new VerificationError("malformed_signature");

  const prefix = `${timestamp}.${eventId}.`;
  const signatureHex = signature.slice(SIGNATURE_PREFIX_LENGTH);
  for (const mac of macs) {
    const matching = mac.matches(prefix, bytes, signatureHex);
    if (matching === true || (matching && (await matching))) return eventFromBody(bytes, eventId);
  }
  throw new VerificationError("signature_mismatch");
}
