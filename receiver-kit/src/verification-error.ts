/** The closed list of reasons for refusing a delivery, with their messages. */
const MESSAGE_BY_REASON = {
  missing_header: "a required header is missing",
  repeated_header: "a required header was sent more than once",
  malformed_timestamp: "Service-Timestamp is not Unix time in decimal digits",
  timestamp_too_old: "Service-Timestamp is older than the tolerance allows",
  timestamp_too_new: "Service-Timestamp is further in the future than the tolerance allows",
  malformed_signature: "Service-Signature is not v1= and 64 lower-case hexadecimal characters",
  signature_mismatch: "no secret gives this signature for these bytes",
  id_mismatch: "Service-Event-Id and the id in the body differ",
  not_json: "the body is not JSON in UTF-8",
  not_an_event: "the body is JSON but not a webhook event",
  unusable_secret: "a signing secret is whsec_ and at least 32 printable characters",
  headers_not_given: "the headers are not a Headers object, a plain object or pairs",
  body_not_raw: "the body is not the raw bytes as they were received",
} as const;

/** Why a delivery was refused. */
export type VerificationReason = keyof typeof MESSAGE_BY_REASON;

/** All reasons, for exhaustive handling and for tests. */
export const VERIFICATION_REASONS = Object.keys(MESSAGE_BY_REASON) as readonly VerificationReason[];

/** These reasons come from the receiver's code or settings, not from a request. */
const OWN_MISTAKES: readonly VerificationReason[] = [
  "unusable_secret",
  "headers_not_given",
  "body_not_raw",
];

// This symbol is shared by the ES module and the CommonJS build, so that `instanceof` works across both.
const BRAND = Symbol.for("receiver-kit.VerificationError");

/** The only error that verification throws. Its message never holds a secret or a computed MAC. */
export class VerificationError extends Error {
  readonly reason: VerificationReason;

  constructor(reason: VerificationReason, detail?: string) {
    super(`${MESSAGE_BY_REASON[reason]}${detail ? `: ${detail}` : ""}`);
    this.name = "VerificationError";
    this.reason = reason;
    Object.defineProperty(this, BRAND, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/**
 * Returns the status to answer after an error: 400 if the delivery does not verify, 500 otherwise. After 500 the sender
 * retries, so the receiver's own mistakes, such as a bad secret or a parsed body, lose no event.
 */
export function statusFromError(error: unknown): 400 | 500 {
  if (!(error instanceof VerificationError)) return 500;
  return OWN_MISTAKES.includes(error.reason) ? 500 : 400;
}
