export type { ClaimResult, Claims } from "./once/claims.ts";
export { handleOnce } from "./once/handle-once.ts";
export { createLeaseStore, type LeaseContext, type LeaseOptions } from "./once/lease-store.ts";
export type {
  Freshness,
  KeepOptions,
  OnceOutcome,
  OnceStore,
  RecordTime,
} from "./once/once-store.ts";
export type { RawBody } from "./raw-body.ts";
export { type AttemptToSign, sign, signedHeaders } from "./sign.ts";
export type { HeadersInput } from "./signed-headers.ts";
export type { SigningSecrets } from "./signing-secret.ts";
export { DEFAULT_TOLERANCE_SECONDS } from "./timestamp.ts";
export {
  statusFromError,
  VERIFICATION_REASONS,
  VerificationError,
  type VerificationReason,
} from "./verification-error.ts";
export { type VerifyOptions, verify } from "./verify.ts";
export {
  type DonationChargeback,
  type DonationCreated,
  type DonationRefunded,
  EVENT_TYPES,
  isKnownEvent,
  type KnownEvent,
  type SubscriptionCreated,
  type UnknownEvent,
  type WebhookEvent,
} from "./webhook-event.ts";
